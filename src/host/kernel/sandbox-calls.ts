import { constants } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { keepInheritedFromChildren, type Libc, openAnyLibc } from './libc.js';
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

let kernel: Libc | null | undefined;

/** False where the C library cannot be reached; nothing can be confined then. */
export function hasKernel(): boolean {
  if (kernel === undefined) kernel = load();
  return kernel !== null;
}

/** A nameless file in memory that no child inherits by itself. */
export function openMemoryFile(): number {
  return checked(calls().memfdCreate('execwire', linux.MFD_CLOEXEC | linux.MFD_ALLOW_SEALING));
}

/** Forbids every further change to such a file, for good. */
export function sealMemoryFile(fd: number): void {
  checked(calls().fcntl(fd, linux.F_ADD_SEALS, 'int', linux.F_ALL_SEALS));
}

/**
 * A handle on a place, good for mounting and nothing else, if no link is on the way to it and none is there. Null where
 * that is not so, or the kernel cannot tell (before Linux 5.6).
 */
export function openWithoutLinks(path: string): number | null {
  const fd = openat2(linux.AT_FDCWD, path, handleWithoutLinks);
  return fd < 0 ? null : fd;
}

/** The same for a path of a process with another root, of which this is a handle. Throws. */
export function openInside(root: number, path: string): number {
  const fd = openat2(root, path, handleInRoot);
  if (fd < 0) throw new Error('the place is not there, or passes a link');
  return fd;
}

/** The user namespace whose rights count in another namespace. Throws. */
export function ownerNamespace(namespace: number): number {
  return checked(calls().ioctl(namespace, linux.NS_GET_USERNS, 'int', 0));
}

/** A pipe that no child inherits by itself and nobody blocks on. */
export function openPipe(): { readEnd: number; writeEnd: number } {
  const fds = new Int32Array(2);
  checked(calls().pipe2(fds, linux.O_CLOEXEC | constants.O_NONBLOCK));
  return { readEnd: fds[0] ?? -1, writeEnd: fds[1] ?? -1 };
}

/** How much an empty pipe takes at once: 64 KiB, but for a user whose pipes take much memory already. */
export function pipeCapacity(fd: number): number {
  return calls().fcntl(fd, linux.F_GETPIPE_SZ, 'int', 0);
}

/** As much as a short message; what is longer comes with the next call. */
const readBuffer = Buffer.alloc(4096);

/** What waits in a pipe of ours; nothing is not an error, as it would be with Node's own call. */
export function readAvailable(fd: number): string {
  return readOrEnd(fd) ?? '';
}

/** The same, but null once nobody can write to it any more. */
export function readOrEnd(fd: number): string | null {
  const count = calls().read(fd, readBuffer, readBuffer.length);
  if (count === 0) return null;
  return count > 0 ? readBuffer.toString('utf8', 0, count) : '';
}

/** Takes a lock on an open file without waiting. False if another holder is in the way. */
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

/** None of these calls takes a structure of the C library, so any will do. */
function load(): Libc | null {
  try {
    const found = openAnyLibc();
    if (found !== null) keepInheritedFromChildren(found);
    return found;
  } catch (error) {
    if (isScarcity(error)) throw spawnFailures.noRoom();
    return null;
  }
}
