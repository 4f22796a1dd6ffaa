import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { ServerProcess, StdioServer } from '../../testkit/server-process.mjs';
import { dialWire, WireClient } from '../../testkit/wire-client.mjs';

/** A client by hand, connected to a server over some transport. */
export interface OpenedWire extends AsyncDisposable {
  readonly client: WireClient;
  /** True where the transport has a Close frame with a reason. */
  readonly tellsWhy: boolean;
  onText(listener: (text: string) => void): void;
}

export type OpenWire = () => Promise<OpenedWire>;

/** The server in this process, joined by a pair of in-memory channels. */
export const openMemoryWire: OpenWire = async () => {
  const server = new ExecServer();
  const [near, far] = createMemoryChannels();
  void server.accept(far);
  const texts = new Set<(text: string) => void>();
  const closes = new Set<(info: object) => void>();
  near.open({
    message: (text) => texts.forEach((listener) => listener(text)),
    closed: ({ message }) => closes.forEach((listener) => listener({ reason: message })),
  });
  const client = new WireClient({
    send: (text) => near.send(text, () => undefined),
    onText: (listener) => texts.add(listener),
    onClose: (listener) => closes.add(listener),
    close: () => near.close('done'),
  });
  return {
    client,
    tellsWhy: false,
    onText: (listener) => texts.add(listener),
    [Symbol.asyncDispose]: () => server.close(),
  };
};

/** The built server in its own process, shared by the cases of a file, a connection each. */
export function openWebSocketWire(server: () => ServerProcess): OpenWire {
  return async () => {
    const { client, socket } = await dialWire(server().url);
    return {
      client,
      tellsWhy: true,
      onText: (listener) => socket.on('message', (data: Buffer) => listener(data.toString())),
      [Symbol.asyncDispose]: async () => socket.terminate(),
    };
  };
}

/** The built server on stdio, a process per case. */
export const openStdioWire: OpenWire = async () => {
  const server = new StdioServer();
  return {
    client: server.client,
    tellsWhy: false,
    onText: (listener) => server.child.stdout.on('data', (data: Buffer) => listener(data.toString())),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};
