import { constants } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { closeInheritedOnExec, type Libc, openAnyLibc } from './libc.js';
import { linux } from './linux.js';
import { isScarcity } from './scarcity.js';
import { spawnFailures } from './spawn-failures.js';

/** `struct open_how`: flags, mode and resolve. */
const handleWithoutLinks = BigUint64Array.of(
  BigInt(linux.O_PATH | linux.O_CLOEXEC),
  0n,
  BigInt(linux.RESOLVE_NO_SYMLINKS),
);
const handleInRoot = BigUint64Array.of(
  BigInt(linux.O_PATH | linux.O_CLOEXEC),
  0n,
  BigInt(linux.RESOLVE_NO_SYMLINKS | linux.RESOLVE_IN_ROOT),
);

const handleBeneath = BigUint64Array.of(
  BigInt(linux.O_PATH | linux.O_CLOEXEC),
  0n,
  BigInt(linux.RESOLVE_NO_SYMLINKS | linux.RESOLVE_BENEATH | linux.RESOLVE_NO_XDEV),
);

let kernel: Libc | null | undefined;

/** False if no C library can be loaded; sandboxes are then unavailable. */
export function hasKernel(): boolean {
  if (kernel === undefined) kernel = load();
  return kernel !== null;
}

/** An unnamed file in memory that children do not inherit. */
export function openMemoryFile(): number {
  return checked(calls().memfdCreate('execwire', linux.MFD_CLOEXEC | linux.MFD_ALLOW_SEALING));
}

/** Makes such a file immutable, for good. */
export function sealMemoryFile(fd: number): void {
  checked(calls().fcntl(fd, linux.F_ADD_SEALS, 'int', linux.F_ALL_SEALS));
}

/**
 * An `O_PATH` descriptor of a place, for mounting only. Null if the path contains a symbolic link, or if the kernel
 * cannot tell (before Linux 5.6).
 */
export function openWithoutLinks(path: string): number | null {
  const fd = openat2(linux.AT_FDCWD, path, handleWithoutLinks);
  return fd < 0 ? null : fd;
}

/** Like `openWithoutLinks`, for a path below the root directory of another process. Throws. */
export function openInside(root: number, path: string): number {
  const fd = openat2(root, path, handleInRoot);
  if (fd < 0) throw new Error('the path does not exist or contains a link');
  return fd;
}

/**
 * An `O_PATH` descriptor of what is at a relative path below an open directory: no link on the way, no `..` and no other
 * mount. Throws the kernel's error.
 */
export function openBeneath(directory: number, path: Buffer): number {
  if (path.length <= MAX_PATH_BYTES) return openOneBeneath(directory, path);
  const slash = path.subarray(0, MAX_PATH_BYTES).lastIndexOf(SLASH);
  const nearer = openOneBeneath(directory, path.subarray(0, slash));
  try {
    return openBeneath(nearer, path.subarray(slash + 1));
  } finally {
    calls().close(nearer);
  }
}

/** The kernel takes no longer path in one call. */
const MAX_PATH_BYTES = 4000;
const SLASH = 0x2f;

function openOneBeneath(directory: number, path: Buffer): number {
  const name = Buffer.concat([path.length === 0 ? Buffer.from('.') : path, Buffer.of(0)]);
  const fd = calls().openat2(linux.SYS_openat2, directory, name, handleBeneath, handleBeneath.byteLength);
  if (fd >= 0) return fd;
  const code = calls().errno();
  throw Object.assign(new Error(`${code}, openat2`), { code });
}

/** The user namespace that owns another namespace. Throws. */
export function ownerNamespace(namespace: number): number {
  return checked(calls().ioctl(namespace, linux.NS_GET_USERNS, 'int', 0));
}

/** A non-blocking pipe that children do not inherit. */
export function openPipe(): { readEnd: number; writeEnd: number } {
  const fds = new Int32Array(2);
  checked(calls().pipe2(fds, linux.O_CLOEXEC | constants.O_NONBLOCK));
  return { readEnd: fds[0] ?? -1, writeEnd: fds[1] ?? -1 };
}

/** The capacity of an empty pipe: 64 KiB, or less for a user whose pipes take up much memory already. */
export function pipeCapacity(fd: number): number {
  return calls().fcntl(fd, linux.F_GETPIPE_SZ, 'int', 0);
}

/** Large enough for a short message; the rest arrives with the next call. */
const readBuffer = Buffer.alloc(4096);

/** Reads what is waiting in one of our pipes. An empty pipe is not an error, as it would be with Node's own call. */
export function readAvailable(fd: number): string {
  return readOrEnd(fd) ?? '';
}

/** Like `readAvailable`, but null once every writer is gone. */
export function readOrEnd(fd: number): string | null {
  const count = calls().read(fd, readBuffer, readBuffer.length);
  if (count === 0) return null;
  return count > 0 ? readBuffer.toString('utf8', 0, count) : '';
}

/** Locks an open file without waiting. False if another holder is in the way. */
export function tryLock(fd: number, mode: 'shared' | 'exclusive'): boolean {
  return calls().flock(fd, (mode === 'shared' ? linux.LOCK_SH : linux.LOCK_EX) | linux.LOCK_NB) === 0;
}

function openat2(directory: number, path: string, how: BigUint64Array): number {
  return calls().openat2(linux.SYS_openat2, directory, Buffer.from(`${path}\0`), how, how.byteLength);
}

function calls(): Libc {
  if (!hasKernel() || !kernel)
    throw new ExecError('sandboxUnavailable', 'The C library of this machine cannot be reached.', {
      data: { reason: 'libcUnavailable' },
    });
  return kernel;
}

function checked(result: number): number {
  if (result >= 0) return result;
  throw spawnFailures.noRoom();
}

/** None of these calls uses libc structures, so any C library will do. */
function load(): Libc | null {
  try {
    const found = openAnyLibc();
    if (found !== null) closeInheritedOnExec(found);
    return found;
  } catch (error) {
    if (isScarcity(error)) throw spawnFailures.noRoom();
    return null;
  }
}
