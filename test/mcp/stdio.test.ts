import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';
import { gone } from '../harness/processes.js';
import { bin } from '../harness/server-process.js';
import { type Connected, mcpContract } from './mcp.contract.js';

/** The built command, started by the SDK's client. */
async function connectStdio(args: string[] = []): Promise<Connected & { readonly pid: number }> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', ...args],
    env: { ...process.env } as Record<string, string>,
    stderr: 'ignore',
  });
  await client.connect(transport);
  const pid = transport.pid ?? -1;
  return { client, pid, [Symbol.asyncDispose]: () => client.close() };
}

mcpContract('stdio', connectStdio);

test('--tools offers only those', async () => {
  await using connected = await connectStdio(['--tools', 'exec_command, write_stdin']);
  const { tools } = await connected.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['exec_command', 'write_stdin']);
});

test('sessions die with a server that is killed', async () => {
  await using connected = await connectStdio();
  const mark = `mcp-killed-${process.pid}`;
  const cmd = `bash -c 'sleep 1000; :' ${mark} & echo up; wait`;
  await connected.client.callTool({
    name: 'exec_command',
    arguments: { cmd, login: false, yield_time_ms: 200 },
  });
  process.kill(connected.pid, 'SIGKILL');
  await gone(mark);
});
