import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { gone, TestFolder } from '../harness/processes.js';
import { bin } from '../../testkit/launch.mjs';

function start(...args: string[]) {
  return spawn(process.execPath, [bin, 'mcp', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

describe('execwire mcp', () => {
  test('serves HTTP, and ends in good order on a signal', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('token'), 'a-secret-of-this-test\n');
    const child = start('--listen', 'http://127.0.0.1:0', '--listen-token-file', folder.file('token'));
    const lines: string[] = [];
    const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    await once(output, 'line');
    const transport = new StreamableHTTPClientTransport(new URL(lines[0] ?? ''), {
      requestInit: { headers: { authorization: 'Bearer a-secret-of-this-test' } },
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const mark = `mcp-command-${process.pid}`;
    const cmd = `exec bash -c 'read x' ${mark}`;
    await client.callTool({ name: 'exec_command', arguments: { cmd, login: false, yield_time_ms: 0 } });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    await gone(mark);
    await client.close();
    expect(lines).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/)]);
  });

  test('prints a fresh token when none is given', async () => {
    const child = start('--listen', 'http://127.0.0.1:0');
    const lines: string[] = [];
    const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    while (lines.length < 2) await once(output, 'line');
    expect(lines[1]).toMatch(/^Authorization: Bearer [\w-]{43}$/);
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  test('refuses a token that can be guessed', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('token'), 'fifteen-letters\n');
    const child = start('--listen', 'http://127.0.0.1:0', '--listen-token-file', folder.file('token'));
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => {
      stderr += data.toString();
    });
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(stderr).toMatch(/^execwire: The token in --listen-token-file must have at least 16 characters/);
    expect(stderr).not.toContain('fifteen');
  });

  test.each([
    ['an address others can reach', ['--listen', 'http://0.0.0.0:0'], 2],
    ['an unknown tool', ['--tools', 'no_such_tool'], 2],
    [
      'a token file that is missing',
      ['--listen', 'http://127.0.0.1:0', '--listen-token-file', '/no/such/file'],
      2,
    ],
    ['an unknown environment', ['-e', 'nowhere'], 1],
  ])('refuses %s', async (_name, args, code) => {
    const child = start(...args);
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => {
      stderr += data.toString();
    });
    expect(await once(child, 'close')).toEqual([code, null]);
    expect(stderr).toMatch(/^execwire: /m);
  });
});
