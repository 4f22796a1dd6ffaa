import { ExecServer, type ExecServerOptions } from '../../src/server/index.js';
import {
  type ListenAddress,
  type WebSocketAuth,
  WebSocketListener,
  type WebSocketListenerOptions,
} from '../../src/transport/index.js';

/** A server of ours on a port of its own, in this process. */
export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

export async function serve(
  options: ExecServerOptions & {
    address?: Exclude<ListenAddress, { kind: 'stdio' }>;
    auth?: WebSocketAuth;
    limits?: WebSocketListenerOptions['limits'];
    maxUnfinishedBytes?: number;
    compression?: WebSocketListenerOptions['compression'];
  } = {},
): Promise<Served> {
  const server = new ExecServer(options);
  const listener = await WebSocketListener.open({
    address: options.address ?? { kind: 'tcp', host: '127.0.0.1', port: 0 },
    auth: options.auth,
    maxUnfinishedBytes: options.maxUnfinishedBytes,
    compression: options.compression,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    onConnection: (channel, { principal, probe, introduced }) =>
      void server.accept(channel, { principal, probe, introduced }),
  });
  return {
    url: listener.url,
    port: Number(listener.url.split(':').at(-1)),
    async [Symbol.asyncDispose]() {
      await server.close();
      await listener.close();
    },
  };
}
