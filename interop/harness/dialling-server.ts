import { dialRegistry } from '../../src/registry/client/index.js';
import type { Channel } from '../../src/rpc/index.js';
import { relay, WebSocketListener } from '../../src/transport/index.js';
import { callUrl, clientPlace, startExecutor, startRegistry } from './registry.js';
import type { RunDirectory } from './run-directory.js';
import type { RunningServer } from './exec-server.js';

/**
 * Starts a machine that only dials a registry. What reaches it is sealed, so a client of ours is between it and the proxy that reads
 * along: it passes on what it is sent over a plain WebSocket.
 */
export async function startDiallingServer(
  argv: (url: string) => readonly string[],
  { run, variables }: { run: RunDirectory; variables: Record<string, string> },
): Promise<Omit<RunningServer, 'marker'>> {
  const registry = await startRegistry(run);
  const url = callUrl(registry.url);
  const machine = startExecutor(argv(url), { run, variables });
  const listener = await WebSocketListener.open({
    address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    onConnection: (channel) => void passOn(channel, url),
  });
  const close = async (): Promise<void> => {
    await machine.stop();
    await listener.close();
    await registry[Symbol.asyncDispose]();
  };
  try {
    await registry.says('a machine is connected');
    return { url: listener.url, crash: () => machine.kill(), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function passOn(channel: Channel, url: string): Promise<void> {
  // Nothing is read before there is somebody to pass it on to.
  channel.pause();
  try {
    const moving = relay(channel, await dialRegistry(clientPlace(url)));
    channel.resume();
    await moving;
  } catch (error) {
    channel.open({ message: () => undefined, closed: () => undefined });
    channel.reject(error instanceof Error ? error.message : String(error));
  }
}
