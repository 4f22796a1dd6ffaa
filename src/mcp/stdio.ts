import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Environment } from '../contract/index.js';
import { Toolbox, type ToolboxOptions } from '../tools/index.js';
import { createMcpServer } from './mcp-server.js';

export interface McpOptions extends ToolboxOptions {
  /** Where commands run. It stays open; who opened it closes it. */
  readonly environment: Environment;
  /** Told to clients. */
  readonly version: string;
}

export interface McpStdioOptions extends McpOptions {
  readonly input?: Readable;
  readonly output?: Writable;
  /** Ends the server. */
  readonly signal?: AbortSignal;
}

/** Serves the one client at the other end of stdin and stdout until it goes. Its sessions end with it. */
export async function runMcpStdio(options: McpStdioOptions): Promise<void> {
  const { input = process.stdin, output = process.stdout, signal } = options;
  await using toolbox = new Toolbox(options.environment, options);
  const server = createMcpServer(toolbox, options.version);
  const over = clientGone({ input, output, signal });
  // Without a reader there is nobody to serve; the write that notices must not bring us down.
  output.on('error', () => undefined);
  await server.connect(new StdioServerTransport(input, output));
  await over;
  await server.close();
}

async function clientGone(streams: {
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
