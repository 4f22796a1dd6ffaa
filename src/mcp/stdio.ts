import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Environment } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { Toolbox, type ToolboxOptions } from '../tools/index.js';
import { createMcpServer, type McpServerOptions } from './mcp-server.js';
import { StdioTransport } from './stdio-transport.js';

export interface McpOptions extends ToolboxOptions, McpServerOptions {
  /** Where commands run. The caller closes it. */
  readonly environment: Environment;
}

export interface McpStdioOptions extends McpOptions {
  readonly input?: Readable;
  readonly output?: Writable;
  /** Stops the server. */
  readonly signal?: AbortSignal;
}

/**
 * Serves one client over stdin and stdout until it disconnects, then ends its sessions. Rejects with
 * `protocolViolation` if it sends what cannot be a message: a line beyond 64 MiB, or not UTF-8.
 */
export async function runMcpStdio(options: McpStdioOptions): Promise<void> {
  const { input = process.stdin, output = process.stdout, signal } = options;
  await using toolbox = new Toolbox(options.environment, options);
  const server = createMcpServer(toolbox, options);
  const disconnected = clientDisconnected({ input, output, signal });
  // A write after the client has gone must not crash the server.
  output.on('error', () => undefined);
  const transport = new StdioTransport({ input, output });
  await server.connect(transport);
  await disconnected;
  await server.close();
  const { violation } = transport;
  if (violation !== undefined)
    throw new ExecError('protocolViolation', `The client was disconnected: ${violation}.`);
}

async function clientDisconnected(streams: {
  input: Readable;
  output: Writable;
  signal: AbortSignal | undefined;
}): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const waits = [
    once(streams.input, 'end', { signal }),
    once(streams.input, 'close', { signal }),
    once(streams.output, 'close', { signal }),
    ...(streams.signal ? [once(streams.signal, 'abort', { signal })] : []),
  ];
  for (const wait of waits) wait.catch(() => undefined);
  if (streams.signal?.aborted) return;
  await Promise.race(waits).catch(() => undefined);
  stop.abort();
}
