import { expect, test } from 'vitest';
import type { Environment } from '../../src/contract/index.js';
import { LocalEnvironment, type OpenEnvironment } from '../../src/environment/index.js';
import { ExecError } from '../../src/protocol/index.js';
import { localEnvironments, openInProcess } from '../harness/app-in-process.js';

/** Opens this machine under any id, and keeps a list of what was opened. */
function recording(): { open: OpenEnvironment; opened: (Environment & { closed?: boolean })[] } {
  const opened: (Environment & { closed?: boolean })[] = [];
  const open: OpenEnvironment = async ({ id }) => {
    if (id === 'unreachable') throw new ExecError('notConnected', 'nobody answers');
    const environment: LocalEnvironment & { closed?: boolean } = new LocalEnvironment({ id });
    const close = environment.close.bind(environment);
    environment.close = async () => {
      environment.closed = true;
      await close();
    };
    opened.push(environment);
    return environment;
  };
  return { open, opened };
}

test('an added environment becomes ready and runs everything that names it', async () => {
  const { open, opened } = recording();
  await using app = openInProcess({ environments: localEnvironments(open) });
  const client = await app.client.initialize();
  const environmentId = 'box';
  await client.call('environment/add', { environmentId, execServerUrl: 'ws://127.0.0.1:1' });
  expect(await client.call('environment/info', { environmentId })).toMatchObject({
    shell: { path: expect.any(String) },
  });
  expect(await client.call('environment/status', { environmentId })).toEqual({ status: 'ready' });
  const before = opened.length;
  expect(await client.call('command/exec', { command: ['echo', 'hi'], environmentId })).toMatchObject({
    stdout: 'hi\n',
  });
  await client.call('process/spawn', { command: ['true'], processHandle: 'p', cwd: '/', environmentId });
  await client.exited('p');
  await client.call('fs/getMetadata', { path: '/', environmentId });
  await client.call('command/exec', { command: ['pwd'], cwd: 'src', environmentId });
  // One session of its own per connection, whatever it asks for.
  expect(opened.slice(before).map(({ id }) => id)).toEqual([environmentId]);
  await client.call('command/exec', { command: ['true'] });
  expect(opened.slice(before).map(({ id }) => id)).toEqual([environmentId, 'local']);
});

test('a replaced environment is used from the next request on; what runs on the old one goes on', async () => {
  const { open, opened } = recording();
  await using app = openInProcess({ environments: localEnvironments(open) });
  const client = await app.client.initialize();
  const environmentId = 'box';
  const add = (port: number) =>
    client.call('environment/add', { environmentId, execServerUrl: `ws://127.0.0.1:${port}` });
  await add(1);
  client.post('run', 'command/exec', { command: ['cat'], processId: 'c', streamStdin: true, environmentId });
  await client.call('command/exec/write', { processId: 'c', deltaBase64: 'aGk=' });
  const before = opened.length;
  await add(2);
  await client.call('command/exec', { command: ['true'], environmentId });
  expect(opened.slice(before).filter(({ id }) => id === environmentId).length).toBe(2);
  await client.call('command/exec/write', { processId: 'c', closeStdin: true });
  expect(await client.wire.answerTo('run')).toMatchObject({ result: { stdout: 'hi' } });
});

test('the end of a connection closes what it opened; one that failed is tried again', async () => {
  const { open, opened } = recording();
  await using app = openInProcess({ environments: localEnvironments(open) });
  await using other = app.connect();
  const client = await other.client.initialize();
  const environmentId = 'unreachable';
  await client.call('environment/add', { environmentId, execServerUrl: 'ws://127.0.0.1:1' });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const [code, text] = await client.refusal('command/exec', { command: ['true'], environmentId });
    expect([code, text.includes('nobody answers')]).toEqual([-32603, true]);
  }
  await client.call('command/exec', { command: ['true'] });
  other.hangUp();
  await client.wire.untilClosed();
  expect(opened.map(({ id, closed }) => [id, closed])).toEqual([['local', true]]);
});
