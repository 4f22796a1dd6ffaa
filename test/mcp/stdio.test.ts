import { expect, test } from 'vitest';
import { gone } from '../harness/processes.js';
import { connectStdio } from './clients.js';
import { mcpContract } from './mcp.contract.js';
import { signalOne } from '../../testkit/signal-one.mjs';

mcpContract('stdio', () => connectStdio());

test('--tools offers only those', async () => {
  await using connected = await connectStdio({ args: ['--tools', 'exec_command, write_stdin'] });
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
  signalOne(connected.pid, 'SIGKILL');
  await gone(mark);
});
