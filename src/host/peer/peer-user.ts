import { linux, loadLibc } from '../kernel/index.js';

/** `struct ucred`: pid, uid, gid. */
const CREDENTIAL_FIELDS = 3;
const UID = 1;

/**
 * The user at the other end of a unix socket, as the kernel recorded it when the connection was made; null where it
 * cannot be asked.
 */
export function peerUser(socket: object): number | null {
  const fd = descriptorOf(socket);
  const libc = fd === null ? null : loadLibc();
  if (fd === null || libc === null) return null;
  const credentials = new Int32Array(CREDENTIAL_FIELDS);
  const size = Int32Array.of(credentials.byteLength);
  const outcome = libc.getsockopt(fd, linux.SOL_SOCKET, linux.SO_PEERCRED, credentials, size);
  return outcome === 0 ? (credentials[UID] ?? null) : null;
}

/** Node has no public name for the descriptor of a socket. */
function descriptorOf(socket: object): number | null {
  const handle: unknown = Reflect.get(socket, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  return typeof fd === 'number' && fd >= 0 ? fd : null;
}
