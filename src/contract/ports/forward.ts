import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connect, ForwardOptions, PortForward } from './port-forward.js';

/** Programs that use `localhost` try both, in either order. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/** Connections at a time; more wait to be accepted. As many streams as a session may have. */
const MAX_CONNECTIONS = 1_000;

/** Listens here and connects each client to the port there. */
export async function forwardPort(
  connect: Connect,
  port: number,
  options: ForwardOptions = {},
): Promise<PortForward> {
  const { createServer } = await import('node:net');
  const { processId, ownOnly, onBytes } = options;
  /** Both ends of each. */
  const connections = new Set<Socket | Duplex>();
  const track = (end: Socket | Duplex): void => {
    connections.add(end);
    end.on('close', () => connections.delete(end));
  };
  let isClosed = false;
  /** What breaks because we stop is nobody's news. */
  const onError = (error: Error): void => {
    if (!isClosed) options.onError?.(error);
  };
  const serve = (client: Socket): void => {
    track(client.on('error', () => undefined));
    connect(port, { processId, ownOnly, early: true }).then(
      (remote) => {
        track(remote);
        join(client, remote, { onError, onBytes });
      },
      (error: Error) => {
        onError(error);
        client.resetAndDestroy();
      },
    );
  };
  const open = (): Server => {
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true }, serve);
    server.maxConnections = MAX_CONNECTIONS;
    return server;
  };
  const servers = await listen(open, options.localPort ?? port);
  const address = servers[0]?.address();
  const close = async (): Promise<void> => {
    isClosed = true;
    // Whoever reads until the end must not take this for it.
    for (const end of connections)
      if ('resetAndDestroy' in end) end.resetAndDestroy();
      else end.destroy();
    await Promise.all(servers.map((server) => new Promise((resolve) => void server.close(resolve))));
  };
  const localPort = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { localPort, port, close, [Symbol.asyncDispose]: close };
}

async function listen(open: () => Server, port: number): Promise<Server[]> {
  const [first = '', second = ''] = LOOPBACK;
  const server = await listenOn(open(), first, port).catch((error: NodeJS.ErrnoException) => {
    if (!['EADDRINUSE', 'EACCES'].includes(error.code ?? '')) throw error;
    return listenOn(open(), first, 0);
  });
  const address = server.address();
  const chosen = typeof address === 'object' ? (address?.port ?? 0) : 0;
  // Not every machine has it, and another program may have the port there.
  const other = await listenOn(open(), second, chosen).catch(() => null);
  return other ? [server, other] : [server];
}

function listenOn(server: Server, host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      server.on('error', () => undefined);
      resolve(server);
    });
  });
}

/** Until both directions have ended. If one side breaks, the other does too. */
function join(
  client: Socket,
  remote: Duplex,
  { onError, onBytes }: Pick<ForwardOptions, 'onError' | 'onBytes'>,
): void {
  remote.on('error', (error) => {
    onError?.(error);
    client.resetAndDestroy();
  });
  client.on('error', () => remote.destroy());
  client.on('close', () => {
    if (!client.readableEnded || !client.writableFinished) remote.destroy();
  });
  if (client.destroyed) return void remote.destroy();
  if (onBytes) for (const side of [client, remote]) side.on('data', ({ length }: Buffer) => onBytes(length));
  client.pipe(remote);
  remote.pipe(client);
}
