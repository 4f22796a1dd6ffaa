import { chmodSync, lstatSync, rmSync, unlinkSync } from 'node:fs';
import type { Server } from 'node:http';
import { createConnection } from 'node:net';
import { ExecError } from '../protocol/errors.js';
import type { WebSocketListenerOptions } from './listener-options.js';

type SocketOptions = Pick<WebSocketListenerOptions, 'address' | 'socket' | 'onAcceptError'>;

/** Makes a server listen. A unix socket is for our own user only. */
export async function bindServer(server: Server, options: SocketOptions): Promise<void> {
  const { address, socket, onAcceptError } = options;
  const isNewFile = address.kind === 'unix' && socket === undefined;
  if (isNewFile) await removeStaleSocket(address.path);
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(explained(error));
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

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  EACCES: 'permission denied; ports below 1024 are reserved for root',
};

/** Says what to do. `code` stays that of the system, for programs. */
function explained(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  const reason = REASONS[error.code ?? ''];
  if (reason !== undefined) error.message = `Cannot listen: ${reason} (${error.message}).`;
  return error;
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
