import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { bin } from '../../testkit/launch.mjs';
import type { Connected } from './mcp.contract.js';

interface CommandOptions {
  /** Comes before the command. */
  readonly wrapper?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** The SDK's client, with the process of the server it talks to. */
export interface ConnectedProcess extends Connected {
  readonly pid: number;
}

/** `execwire mcp` as the SDK's client starts it. */
export async function connectStdio({
  args = [],
  env = {},
  wrapper = [],
  cwd,
}: CommandOptions = {}): Promise<ConnectedProcess> {
  const client = new Client({ name: 'test', version: '1' });
  const [command = '', ...rest] = [...wrapper, process.execPath, bin, 'mcp', '--structured', ...args];
  const transport = new StdioClientTransport({
    command,
    args: rest,
    env: { ...(process.env as Record<string, string>), ...env },
    stderr: 'ignore',
    ...(cwd === undefined ? {} : { cwd }),
  });
  await client.connect(transport);
  return { client, pid: transport.pid ?? -1, [Symbol.asyncDispose]: () => client.close() };
}

/** `execwire mcp` listening on a port of its own, and a client of it. Both end together. */
export async function connectHttpCommand({
  args = [],
  env = {},
}: CommandOptions = {}): Promise<ConnectedProcess> {
  const listen = ['--listen', 'http://127.0.0.1:0'];
  const child = spawn(process.execPath, [bin, 'mcp', '--structured', ...args, ...listen], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  while (lines.length < 2) await once(output, 'line');
  const [url = '', header = ''] = lines;
  const connected = await connectHttp({ url, token: header.split(' ').at(-1) ?? '' });
  return {
    client: connected.client,
    pid: child.pid ?? -1,
    [Symbol.asyncDispose]: async () => {
      await connected[Symbol.asyncDispose]();
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** A client of a server that listens. It says goodbye, unless the server has gone before. */
export async function connectHttp({ url, token }: { url: string; token: string }): Promise<Connected> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return {
    client,
    [Symbol.asyncDispose]: async () => {
      await transport.terminateSession().catch(() => undefined);
      await client.close();
    },
  };
}
