import { writeFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { gone, pidsWithArgument, TestFolder } from '../harness/processes.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { call } from './call.js';
import { connectHttpCommand, connectStdio, type ConnectedProcess } from './clients.js';
import { signalOne } from '../../testkit/signal-one.mjs';

/** Where the far side lives: its commands start there, and files without a directory are there. */
const far = new TestFolder();
const home = new TestFolder();
/** Tells the far side from this one. */
const there = ['env', '-C', far.path, 'FAR_SIDE=far'];
let server: ServerProcess;

beforeAll(async () => {
  // A lost session is kept for as long as its client may come back; here that is a second.
  server = await ServerProcess.start({ wrapper: there, args: ['--session-ttl', '1'] });
  writeFileSync(far.file('note.txt'), 'one\ntwo\n');
  const [program, ...args] = [...there, process.execPath, bin, 'serve', '--listen', 'stdio'];
  const box = { id: 'box', program, args };
  const fields = Object.entries(box).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  writeFileSync(
    home.file('environments.toml'),
    `[[environments]]\n${fields.join('')}[[environments]]\nid = "ws"\nurl = "${server.url}"\n`,
  );
});

afterAll(async () => {
  await server.stop();
  far[Symbol.dispose]();
  home[Symbol.dispose]();
});

const transports = { stdio: connectStdio, HTTP: connectHttpCommand };
type Transport = keyof typeof transports;

function connect(transport: Transport, environment: string): Promise<ConnectedProcess> {
  return transports[transport]({ args: ['-e', environment], env: { EXECWIRE_HOME: home.path } });
}

async function startMarked(client: Client, mark: string): Promise<unknown> {
  // Says so itself: its parent could speak before it has become what we look for.
  // No line end, which a terminal would deliver apart from the text.
  const cmd = `bash -c 'printf up; sleep 1000; :' ${mark} & wait`;
  const started = await call(client, 'exec_command', { cmd, login: false, yield_time_ms: 0 });
  const { session_id, output } = started.data;
  if (output === '') await call(client, 'wait_for', { session_id, pattern: 'up' });
  expect(pidsWithArgument(mark).length).toBeGreaterThan(0);
  return session_id;
}

describe.each([
  ['stdio', 'ws'],
  ['HTTP', 'ws'],
  ['stdio', 'box'],
  ['HTTP', 'box'],
] as const)('execwire mcp over %s, environment %s', (transport, environment) => {
  test('commands and files are those of the far side, and nothing is left there', async () => {
    await using connected = await connect(transport, environment);
    const { client } = connected;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('exec_command');
    const ran = await call(client, 'exec_command', { cmd: 'echo $FAR_SIDE; pwd', login: false });
    expect(ran.data.output).toBe(`far\n${far.path}\n`);
    expect((await call(client, 'read_file', { path: 'note.txt', from: 2 })).text).toBe('two\n');
    const path = `${transport}-${environment}/new.txt`;
    await call(client, 'write_file', { path, content: 'three\n' });
    expect((await call(client, 'search', { pattern: 'three' })).text).toContain(`${path}:1:three`);
    const listed = await call(client, 'list_directory', {});
    expect(listed.data).toMatchObject({ path: far.path });
    expect(listed.text.split('\n')).toEqual(
      expect.arrayContaining(['note.txt', `${transport}-${environment}/`]),
    );
    const mark = `mcp-far-${transport}-${environment}-${process.pid}`;
    await startMarked(client, mark);
    signalOne(connected.pid, 'SIGKILL');
    await gone(mark);
  });
});

describe.each(['stdio', 'HTTP'] as const)('a connection lost, over %s', (transport) => {
  test('is one clear error; what follows goes to the machine that is there', async () => {
    await using first = await ServerProcess.start({ wrapper: there });
    // Its own port may be somebody else's by the time another server starts.
    await using proxy = await FaultProxy.to(first.url);
    const { client, ...connected } = await transports[transport]({ args: ['-e', proxy.url] });
    await using _connected = connected;
    const session_id = await startMarked(client, `mcp-lost-${transport}-${process.pid}`);
    const waiting = call(client, 'wait_for', { session_id });
    await first.stop('SIGKILL');
    await using second = await ServerProcess.start();
    proxy.leadTo(second.url);
    const lost = await waiting;
    expect(lost.isError).toBe(true);
    expect(lost.text).toMatch(/^Contact with the process was lost; how it ended is unknown$/);
    const again = await call(client, 'write_stdin', { session_id });
    expect(again).toMatchObject({ isError: true, text: expect.stringContaining('contact with it was lost') });
    expect((await call(client, 'read_output', { session_id })).data.output).toBe('up\n');
    const next = await call(client, 'exec_command', { cmd: 'echo "[$FAR_SIDE]"', login: false });
    expect(next.data.output).toBe('[]\n');
    await second.stop();
  });
});
