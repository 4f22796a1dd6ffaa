import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';
import { call } from './call.js';

/** `execwire mcp` with these arguments, as a client with nothing special about it starts it. */
async function connect(...args: string[]): Promise<Client & AsyncDisposable> {
  const client = new Client({ name: 'test', version: '1' });
  const command = { command: process.execPath, args: [bin, 'mcp', ...args], stderr: 'ignore' as const };
  await client.connect(new StdioClientTransport(command));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

const QUICK = { login: false, tty: false };

describe('execwire mcp', () => {
  test('sends a model text and nothing else', async () => {
    await using client = await connect();
    const { tools } = await client.listTools();
    for (const tool of tools) expect(tool).not.toHaveProperty('outputSchema');
    const result = await client.callTool({ name: 'exec_command', arguments: { cmd: 'echo hi', ...QUICK } });
    expect(result).not.toHaveProperty('structuredContent');
    expect(result.content).toEqual([
      { type: 'text', text: expect.stringMatching(/^Exit code 0( after [\d.]+ s)?\nhi\n$/) },
    ]);
  });

  test('says in the text whatever a model must know to go on', async () => {
    await using client = await connect();
    const asking = await call(client, 'exec_command', { cmd: 'read -s x; echo got', login: false });
    expect(asking.text).toContain('Running with session ID 1');
    expect([asking.text, ...asking.notes].join('\n')).toMatch(
      /^Running with session ID 1, asking for a password \(no echo\)$/,
    );
    const typed = await call(client, 'write_stdin', {
      session_id: 1,
      chars: 'secret\n',
      yield_time_ms: 10_000,
    });
    expect(typed.text).toMatch(/^Exit code 0/);
    expect(typed.text).toContain('got');
  });

  test('runs commands and finds files in the directory it is given', async () => {
    using folder = new TestFolder();
    mkdirSync(folder.file('sub'));
    writeFileSync(folder.file('sub/a.txt'), 'here\n');
    await using client = await connect('--cwd', folder.path);
    const { text } = await call(client, 'exec_command', { cmd: 'pwd -P', ...QUICK });
    expect(text).toContain(`\n${realpathSync(folder.path)}\n`);
    const below = await call(client, 'exec_command', { cmd: 'cat a.txt', workdir: 'sub', ...QUICK });
    expect(below.text).toContain('\nhere\n');
    expect((await call(client, 'read_file', { path: 'sub/a.txt' })).text).toContain('here');
  });

  test('proves itself to the machine with --token-file', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('token'), 'a-secret-of-this-test\n');
    await using server = await ServerProcess.start({
      args: ['--ws-auth', 'capability-token', '--ws-token-file', folder.file('token')],
    });
    await using client = await connect('-e', server.url, '--token-file', folder.file('token'));
    const { text } = await call(client, 'exec_command', { cmd: 'echo far', ...QUICK });
    expect(text).toContain('\nfar\n');
  });
});
