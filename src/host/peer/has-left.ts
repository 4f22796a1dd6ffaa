import { linux, loadLibc, socketDescriptor } from '../kernel/index.js';
import { type ConnectionEnds, findPeerSocket } from './socket-table.js';
import { isLocal } from './this-machine.js';

/** The state of a connection whose ends are both open. */
const ESTABLISHED = 1;

/**
 * True if the other end, on this machine, has been closed. Then its user can no longer be determined, and there is no one left to
 * serve.
 */
export function hasLeft(ends: ConnectionEnds): boolean {
  if (stateOf(ends) === ESTABLISHED || !isLocal(ends)) return false;
  return (findPeerSocket(ends)?.inode ?? 0) === 0;
}

/** Null if the system cannot be asked. */
function stateOf(socket: object): number | null {
  const fd = socketDescriptor(socket);
  const libc = fd === null ? null : loadLibc();
  if (fd === null || libc === null) return null;
  // The state is the first byte of `struct tcp_info`, and the only one asked for.
  const [info, size] = [new Int32Array(1), Int32Array.of(1)];
  return libc.getsockopt(fd, linux.SOL_TCP, linux.TCP_INFO, info, size) === 0 ? (info[0] ?? null) : null;
}
