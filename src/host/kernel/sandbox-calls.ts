import { readdirSync } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { loadKoffi } from './load-koffi.js';
import { isScarcity } from './scarcity.js';

/** The few calls Node lacks. None of them takes a struct of the C library, so any will do. */
interface Kernel {
  readonly memfdCreate: (name: string, flags: number) => number;
  readonly pipe2: (fds: Int32Array, flags: number) => number;
  readonly read: (fd: number, into: Uint8Array, size: number) => number;
  readonly flock: (fd: number, operation: number) => number;
  readonly fcntl: (fd: number, command: number, type: 'int', argument: number) => number;
  readonly ioctl: (fd: number, request: number) => number;
  readonly openat2: (
    number: number,
    directory: number,
    path: string,
    how: BigUint64Array,
    size: number,
  ) => number;
}

const LIBRARIES: readonly string[] = [
  'libc.so.6',
  `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`,
];

const MFD_CLOEXEC = 1;
const MFD_ALLOW_SEALING = 2;
const F_ADD_SEALS = 1033;
const F_GETPIPE_SZ = 1032;
/** F_SEAL_SEAL, SHRINK, GROW and WRITE. */
const ALL_SEALS = 0xf;

const O_CLOEXEC = 0o2000000;
const O_NONBLOCK = 0o4000;
const O_PATH = 0o10000000;
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;

/** The number is the same on every architecture; the kernel's structure is flags, mode and resolve. */
const SYS_OPENAT2 = 437;
const AT_FDCWD = -100;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_IN_ROOT = 0x10;
const handleWithoutLinks = BigUint64Array.of(BigInt(O_PATH | O_CLOEXEC), 0n, BigInt(RESOLVE_NO_SYMLINKS));
const handleInRoot = BigUint64Array.of(
  BigInt(O_PATH | O_CLOEXEC),
  0n,
  BigInt(RESOLVE_NO_SYMLINKS | RESOLVE_IN_ROOT),
);

/** Asks a namespace for the user namespace it belongs to. */
const NS_GET_USERNS = 0xb701;

let kernel: Kernel | null | undefined;

/** False where the C library cannot be reached; nothing can be confined then. */
export function hasKernel(): boolean {
  kernel ??= load();
  return kernel !== null;
}

/** A nameless file in memory that no child inherits by itself. */
export function openMemoryFile(): number {
  return checked(calls().memfdCreate('execwire', MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

/** Forbids every further change to such a file, for good. */
export function sealMemoryFile(fd: number): void {
  checked(calls().fcntl(fd, F_ADD_SEALS, 'int', ALL_SEALS));
}

/**
 * A handle on a place, good for mounting and nothing else, if no link is on the way to it and none is there. Null where
 * that is not so, or the kernel cannot tell (before Linux 5.6).
 */
export function openWithoutLinks(path: string): number | null {
  const how = handleWithoutLinks;
  const fd = calls().openat2(SYS_OPENAT2, AT_FDCWD, path, how, how.byteLength);
  return fd < 0 ? null : fd;
}

/** The same for a path of a process with another root, of which this is a handle. Throws. */
export function openInside(root: number, path: string): number {
  const fd = calls().openat2(SYS_OPENAT2, root, path, handleInRoot, handleInRoot.byteLength);
  if (fd < 0) throw new Error('the place is not there, or passes a link');
  return fd;
}

/** The user namespace whose rights count in another namespace. Throws. */
export function ownerNamespace(namespace: number): number {
  return checked(calls().ioctl(namespace, NS_GET_USERNS));
}

/** A pipe that no child inherits by itself and nobody blocks on. */
export function openPipe(): { readEnd: number; writeEnd: number } {
  const fds = new Int32Array(2);
  checked(calls().pipe2(fds, O_CLOEXEC | O_NONBLOCK));
  return { readEnd: fds[0] ?? -1, writeEnd: fds[1] ?? -1 };
}

/** How much an empty pipe takes at once: 64 KiB, but for a user whose pipes take much memory already. */
export function pipeCapacity(fd: number): number {
  return calls().fcntl(fd, F_GETPIPE_SZ, 'int', 0);
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
  return calls().flock(fd, (mode === 'shared' ? LOCK_SH : LOCK_EX) | LOCK_NB) === 0;
}

function calls(): Kernel {
  if (!hasKernel() || !kernel)
    throw new ExecError('sandboxUnavailable', 'The C library of this machine cannot be reached.', {
      data: { reason: 'libcUnavailable' },
    });
  return kernel;
}

function checked(result: number): number {
  if (result >= 0) return result;
  throw noRoom();
}

function noRoom(): ExecError {
  return new ExecError('spawnFailed', 'The machine has no room for another process.', {
    data: { reason: 'resourceLimit' },
  });
}

function load(): Kernel | null {
  if (process.platform !== 'linux') return null;
  for (const library of LIBRARIES) {
    try {
      const koffi = loadKoffi();
      const libc = koffi.load(library);
      const bound: Kernel = {
        memfdCreate: libc.func('int memfd_create(const char *name, unsigned int flags)'),
        pipe2: libc.func('int pipe2(void *fds, int flags)'),
        read: libc.func('long read(int fd, void *into, size_t size)'),
        flock: libc.func('int flock(int fd, int operation)'),
        fcntl: libc.func('int fcntl(int fd, int command, ...)'),
        ioctl: libc.func('int ioctl(int fd, unsigned long request)'),
        openat2: libc.func(
          'long syscall(long number, long directory, const char *path, void *how, long size)',
        ),
      };
      markInherited(bound);
      return bound;
    } catch (error) {
      if (isScarcity(error)) throw noRoom();
      // The next name is for another C library.
    }
  }
  return null;
}

/** What whoever started us left open would reach into every sandbox: a directory among it is a way out. Node marks its own. */
function markInherited({ fcntl }: Kernel): void {
  const F_SETFD = 2;
  const FD_CLOEXEC = 1;
  for (const name of readdirSync('/proc/self/fd'))
    if (Number(name) > 2) fcntl(Number(name), F_SETFD, 'int', FD_CLOEXEC);
}
