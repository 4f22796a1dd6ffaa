import { chmodSync, existsSync, lstatSync, rmSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { ExecError } from '../protocol/errors.js';
import { urlHost } from './listen-address.js';
import { whyNotListening } from './listen-failure.js';
import type { WebSocketListenerOptions } from './listener-options.js';

type SocketOptions = Pick<WebSocketListenerOptions, 'address' | 'socket' | 'onAcceptError'>;

/** `sun_path` has room for 108 on Linux and 104 elsewhere, the last of which is zero. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** Makes a server listen. A unix socket is for our own user only. */
export async function bindServer(server: Server, options: SocketOptions): Promise<void> {
  const { address, socket, onAcceptError } = options;
  const isNewFile = address.kind === 'unix' && socket === undefined;
  if (isNewFile) {
    requireShort(address.path);
    await removeStaleSocket(address.path);
  }
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(explained(error, address));
    server.once('error', fail);
    server.once('listening', () => {
      // From here on errors concern single connections, and without a listener they would crash the process.
      server.off('error', fail);
      server.on('error', (error) => onAcceptError?.(error));
      resolve();
    });
    listen(server, options);
  });
  if (isNewFile) chmodSync(address.path, 0o600);
}

/** Says what to do. `code` stays that of the system, for programs. */
function explained(error: NodeJS.ErrnoException, address: SocketOptions['address']): NodeJS.ErrnoException {
  const [place, why] =
    address.kind === 'tcp'
      ? [`${urlHost(address.host)}:${address.port}`, whyNotListening(error)]
      : [address.path, whyNoSocket(error, address.path)];
  error.message = `Cannot listen on ${place}: ${why}.`;
  return error;
}

/** Node would cut it, and listen at a path that nobody has named. */
function requireShort(path: string): void {
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return;
  throw new ExecError(
    'invalidConfiguration',
    `Cannot listen on ${path}: the path of a socket may have ${MAX_SOCKET_PATH_BYTES} bytes at most; choose a shorter one.`,
  );
}

/** The system reports a missing directory as a lack of permission. */
function whyNoSocket(error: NodeJS.ErrnoException, path: string): string {
  const { code = '' } = error;
  const directory = dirname(path);
  if (!existsSync(directory)) return `there is no directory ${directory}; create it first`;
  if (code === 'EACCES') return `this user may not create files in ${directory} (${code})`;
  return whyNotListening(error);
}

function listen(server: Server, { address, socket }: SocketOptions): void {
  if (socket !== undefined) server.listen({ fd: socket.fd });
  else if (address.kind === 'tcp') server.listen(address.port, address.host);
  else {
    // Bound under a restrictive umask, so that at no moment others may connect.
    const umask = process.umask(0o177);
    try {
      server.listen(address.path);
    } finally {
      process.umask(umask);
    }
  }
}

/** Stops accepting. Ends connections that have not become a WebSocket. */
export async function unbindServer(server: Server, { address, socket }: SocketOptions): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  // Node removes only what it has bound itself.
  if (address.kind === 'unix' && socket?.isOurs) rmSync(address.path, { force: true });
}

/** Removes a socket file left behind by a server that died. A live one is not ours to take. */
async function removeStaleSocket(path: string): Promise<void> {
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (!existing) return;
  // Connecting to a regular file is refused as well, but a mistyped path must not delete that file.
  if (!existing.isSocket()) {
    throw new ExecError('invalidConfiguration', `Cannot listen on ${path}: it exists and is not a socket.`);
  }
  const alive = await new Promise<boolean>((resolve) => {
    const probe = createConnection(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
  if (alive) throw new ExecError('invalidConfiguration', `Cannot listen on ${path}: it is in use.`);
  unlinkSync(path);
}
