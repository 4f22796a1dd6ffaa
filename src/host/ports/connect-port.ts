import { isIPv4, type OnReadOpts, Socket } from 'node:net';
import { ExecError } from '../../protocol/errors.js';
import type { PortTarget } from './port-target.js';
import { takeSocket } from './socket-supply.js';

/** A program on the same machine accepts at once, unless it is stopped or overwhelmed. */
const CONNECT_LIMIT_MS = 10_000;

/** Receives the bytes of a socket without its own buffers. See `onread` of `net.Socket`. */
export type SocketReader = OnReadOpts;

/** Connects to a port on this machine or in a sandbox. Rejects with `portRefused`. */
export async function connectPort(target: PortTarget, reader?: SocketReader): Promise<Socket> {
  let last: unknown;
  for (const address of addressesOf(target)) {
    const socket = await openSocket(target, reader);
    try {
      return await connected(socket, { host: target.network ? mapped(address) : address, port: target.port });
    } catch (error) {
      last = error;
    }
  }
  throw new ExecError('portRefused', `Nothing accepts connections on port ${target.port}.`, { cause: last });
}

/** A listener on every address is reached through loopback. */
function addressesOf({ address }: PortTarget): string[] {
  if (address === '0.0.0.0') return ['127.0.0.1'];
  return address === '::' ? ['::1', '127.0.0.1'] : [address];
}

/** Sockets created in a sandbox are IPv6. */
function mapped(address: string): string {
  return isIPv4(address) ? `::ffff:${address}` : address;
}

async function openSocket({ network }: PortTarget, onread: SocketReader | undefined): Promise<Socket> {
  const options = { allowHalfOpen: true, ...(onread ? { onread } : {}) };
  if (network === null) return new Socket(options);
  const fd = await takeSocket(network);
  // It is not connected yet, so reading must not begin: `manualStart` is what Node's own streams use for that.
  return new Socket({ ...options, fd, readable: true, writable: true, manualStart: true } as object);
}

function connected(socket: Socket, place: { host: string; port: number }): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => fail(new Error('it does not accept')), CONNECT_LIMIT_MS);
    const fail = (error: Error): void => {
      clearTimeout(limit);
      socket.destroy();
      reject(error);
    };
    // Stays, because the socket may fail before its new owner listens for errors.
    socket.on('error', fail);
    socket.connect({ ...place, noDelay: true }, () => {
      clearTimeout(limit);
      if (isItself(socket)) fail(new Error('it connected to itself'));
      else resolve(socket);
    });
  });
}

/** If nobody listens, a socket may be assigned the very port it connects to, and connect to itself. */
function isItself({ localPort, remotePort, localAddress, remoteAddress }: Socket): boolean {
  return localPort === remotePort && localAddress === remoteAddress;
}
