import { loadKoffi } from './load-koffi.js';
import { isScarcity } from './scarcity.js';

/** The system calls Node does not offer. Buffers stand for pointers, paths end with a NUL, -1 is a failure. */
export interface KernelCalls {
  /** `how` is the C structure: flags, mode, resolve. */
  readonly openat2: (path: Uint8Array, how: BigUint64Array) => number;
  readonly open: (path: string, flags: number) => number;
  readonly close: (fd: number) => number;
  readonly statx: (fd: number, flags: number, mask: number, into: Uint8Array) => number;
  /** Reads into `target` what is in memory already; never waits for a disk. */
  readonly readCached: (fd: number, target: Uint8Array, offset: number) => number;
  /** Fills `into` with entries of an open directory, on the thread pool. Resolves to their length, 0 at the end. */
  readonly readEntries: (fd: number, into: Uint8Array) => Promise<number>;
  /** Gives what a descriptor path leads to a name, on the thread pool. Resolves to 0, or -1 when it cannot be done. */
  readonly link: (existing: string, path: Uint8Array) => Promise<number>;
}

/** The number of the call and the C structures below are the same on these two. */
const KNOWN_ARCHITECTURES: readonly string[] = ['x64', 'arm64'];

const SYS_OPENAT2 = 437;
const OPEN_HOW_BYTES = 24;
const AT_FDCWD = -100;
const AT_SYMLINK_FOLLOW = 0x400;
/** Fail rather than wait. File systems that cannot promise it refuse. */
const RWF_NOWAIT = 0x8;

let loaded: KernelCalls | null | undefined;

/** The calls through koffi, or null where they are missing: everything then goes the way Node offers. */
export function kernelCalls(): KernelCalls | null {
  if (loaded === undefined) loaded = tryLoad();
  return loaded ?? null;
}

/** Undefined where that is not known: the machine may have room for it the next time. */
function tryLoad(): KernelCalls | null | undefined {
  if (process.platform !== 'linux' || !KNOWN_ARCHITECTURES.includes(process.arch)) return null;
  try {
    const koffi = loadKoffi();
    const library = koffi.load('libc.so.6');
    // glibc alone has all of them under these names and takes a NULL-free empty path in statx.
    const syscall = library.func(
      'long syscall(long number, long directory, void *path, void *how, long size)',
    );
    const open = library.func('int open(const char *path, int flags, int mode)');
    const close = library.func('int close(int fd)');
    const statx = library.func(
      'int statx(int directory, const char *path, int flags, unsigned int mask, void *into)',
    );
    const preadv2 = library.func('long preadv2(int fd, void *vector, int count, int64_t offset, int flags)');
    const linkat = library.func(
      'int linkat(int fromDirectory, const char *from, int toDirectory, void *to, int flags)',
    );
    const getdents = library.func('long getdents64(int fd, void *into, size_t size)');
    const vector = new BigUint64Array(2);
    return {
      openat2: (path, how) => syscall(SYS_OPENAT2, AT_FDCWD, path, how, OPEN_HOW_BYTES) as number,
      open: (path, flags) => open(path, flags, 0) as number,
      close: (fd) => close(fd) as number,
      statx: (fd, flags, mask, into) => statx(fd, '', flags, mask, into) as number,
      readCached: (fd, target, offset) => {
        vector[0] = koffi.address(target);
        vector[1] = BigInt(target.length);
        return preadv2(fd, vector, 1, offset, RWF_NOWAIT) as number;
      },
      readEntries: (fd, into) =>
        new Promise((resolve) => {
          getdents.async(fd, into, into.length, (error: unknown, count: number) =>
            resolve(error ? -1 : count),
          );
        }),
      link: (existing, path) =>
        new Promise((resolve) => {
          linkat.async(
            AT_FDCWD,
            existing,
            AT_FDCWD,
            path,
            AT_SYMLINK_FOLLOW,
            (error: unknown, status: number) => resolve(error ? -1 : status),
          );
        }),
    };
  } catch (error) {
    return isScarcity(error) ? undefined : null;
  }
}
