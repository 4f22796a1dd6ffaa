import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { namedSandbox } from '../../src/policy/index.js';
import { serve } from '../harness/serve.js';
import { TestTools } from './harness.js';

const LISTEN = fileURLToPath(new URL('../fixtures/listen.mjs', import.meta.url));
const COMMAND = `${process.execPath} ${LISTEN}`;
const sandbox = namedSandbox({ policy: 'read-only' }, { workspace: '/tmp' });

describe.each([
  ['here', null],
  ['in a sandbox without a network', sandbox],
])('a command that listens, %s', (_name, policy) => {
  test('answers say where, without being asked', async () => {
    await using tools = new TestTools({ sandbox: policy });
    const { session_id, output } = await tools.execUntil(COMMAND, '\\d+');
    const port = Number(/\d+/.exec(output)?.[0]);
    const { text, structured } = await tools.call('write_stdin', { session_id });
    expect(text).toContain(`Running with session ID ${session_id}, listening on ${port}`);
    expect(structured).toMatchObject({ listening: [port] });
  });

  test('wait_for returns when it does', async () => {
    await using tools = new TestTools({ sandbox: policy });
    const port = 20_000 + (process.pid % 10_000);
    const script = `process.stdin.once('data', () => require('net').createServer().listen(${port}, '127.0.0.1'))`;
    const { session_id } = await tools.exec(`${process.execPath} -e "${script}"`, { yield_time_ms: 0 });
    const waiting = tools.report('wait_for', { session_id, port });
    await tools.report('write_stdin', { session_id, chars: '\n', yield_time_ms: 0 });
    expect(await waiting).toMatchObject({ happened: 'port', listening: [port] });
  });
});

test('the same on a server', async () => {
  await using server = await serve();
  await using environment = await RemoteEnvironment.connect({
    id: 'there',
    dial: () => dialWebSocket(server.url),
    resume: true,
  });
  await using tools = new TestTools({ sandbox }, environment);
  const { session_id, output } = await tools.execUntil(COMMAND, '\\d+');
  const port = Number(/\d+/.exec(output)?.[0]);
  expect(await tools.report('wait_for', { session_id, port })).toMatchObject({
    happened: 'port',
    listening: [port],
  });
});

test('a job left in the background counts, and a command that has ended is not asked about', async () => {
  await using tools = new TestTools();
  const untilItListens = 'until [ -s $f ]; do sleep 0.05; done; rm $f';
  const left = await tools.exec(`f=$(mktemp); ${COMMAND} >$f & ${untilItListens}`, { tty: false });
  expect(left).toMatchObject({ running: false, listening: [expect.any(Number)] });
  expect(await tools.exec('true')).toMatchObject({ running: false, listening: [] });
});
