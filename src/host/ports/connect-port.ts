import { isIPv4, type OnReadOpts, Socket } from 'node:net';
import { ExecError } from '../../protocol/errors.js';
import type { PortTarget } from './port-target.js';
import { takeSocket } from './socket-supply.js';

/** A program on the same machine accepts at once, unless it is stopped or overwhelmed. */
const CONNECT_LIMIT_MS = 10_000;

/** Where the bytes of a socket go, instead of into buffers of its own. See `onread` of `net.Socket`. */
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

/** Somebody who listens on every address is reached by loopback. */
function addressesOf({ address }: PortTarget): string[] {
  if (address === '0.0.0.0') return ['127.0.0.1'];
  return address === '::' ? ['::1', '127.0.0.1'] : [address];
}

/** Sockets made in a sandbox are of version 6. */
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
    // Stays: whoever takes the socket may not have looked at it yet when it fails.
    socket.on('error', fail);
    socket.connect({ ...place, noDelay: true }, () => {
      clearTimeout(limit);
      if (isItself(socket)) fail(new Error('it connected to itself'));
      else resolve(socket);
    });
  });
}

/** With nobody listening, a socket may get the very port that it connects to. */
function isItself({ localPort, remotePort, localAddress, remoteAddress }: Socket): boolean {
  return localPort === remotePort && localAddress === remoteAddress;
}
