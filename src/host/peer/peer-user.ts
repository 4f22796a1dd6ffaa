import { linux, loadLibc, socketDescriptor } from '../kernel/index.js';

/** `struct ucred`: pid, uid, gid. */
const CREDENTIAL_FIELDS = 3;
const UID = 1;

/**
 * The user at the other end of a unix socket, as the kernel recorded it when the connection was made; null where it
 * cannot be asked.
 */
export function peerUser(socket: object): number | null {
  const fd = socketDescriptor(socket);
  const libc = fd === null ? null : loadLibc();
  if (fd === null || libc === null) return null;
  const credentials = new Int32Array(CREDENTIAL_FIELDS);
  const size = Int32Array.of(credentials.byteLength);
  const outcome = libc.getsockopt(fd, linux.SOL_SOCKET, linux.SO_PEERCRED, credentials, size);
  return outcome === 0 ? (credentials[UID] ?? null) : null;
}
