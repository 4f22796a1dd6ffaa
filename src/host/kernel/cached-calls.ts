import { type Libc, openGlibc, unlessScarce } from './libc.js';
import { linux } from './linux.js';

/** System calls Node does not expose. Buffers stand for pointers, paths are NUL-terminated, -1 means failure. */
export interface KernelCalls {
  /** `how` is `struct open_how`: flags, mode, resolve. */
  readonly openat2: (path: Uint8Array, how: BigUint64Array) => number;
  readonly open: (path: string, flags: number) => number;
  readonly close: (fd: number) => number;
  readonly statx: (fd: number, flags: number, mask: number, into: Uint8Array) => number;
  /** Reads only what is in the page cache; never waits for a disk. */
  readonly readCached: (fd: number, target: Uint8Array, offset: number) => number;
  /**
   * Fills `into` with entries of an open directory, on the thread pool. Resolves to the bytes filled in, 0 at the end.
   */
  readonly readEntries: (fd: number, into: Uint8Array) => Promise<number>;
  /** Links the file behind a descriptor path to a name, on the thread pool. Resolves to 0, or -1 on failure. */
  readonly link: (existing: string, path: Uint8Array) => Promise<number>;
}

let loaded: KernelCalls | null | undefined;

/** The calls through glibc, or null if it is unavailable: callers then use what Node offers. */
export function kernelCalls(): KernelCalls | null {
  if (loaded === undefined)
    loaded = unlessScarce(() => {
      const libc = openGlibc('getdents');
      return libc === null ? null : callsOf(libc);
    });
  return loaded ?? null;
}

function callsOf(libc: Libc): KernelCalls {
  const { openat2, open, close, statx, preadv2, linkat, getdents, address } = libc;
  const vector = new BigUint64Array(2);
  return {
    openat2: (path, how) => openat2(linux.SYS_openat2, linux.AT_FDCWD, path, how, how.byteLength),
    open: (path, flags) => open(path, flags, 0),
    close,
    // glibc wants an empty path, not NULL.
    statx: (fd, flags, mask, into) => statx(fd, '', flags, mask, into),
    readCached: (fd, target, offset) => {
      vector[0] = address(target);
      vector[1] = BigInt(target.length);
      return preadv2(fd, vector, 1, offset, linux.RWF_NOWAIT);
    },
    readEntries: (fd, into) => onThreadPool((done) => getdents.async(fd, into, into.length, done)),
    link: (existing, path) => {
      const { AT_FDCWD, AT_SYMLINK_FOLLOW } = linux;
      return onThreadPool((done) =>
        linkat.async(AT_FDCWD, existing, AT_FDCWD, path, AT_SYMLINK_FOLLOW, done),
      );
    },
  };
}

/** Only so many calls run at a time; one more is refused, which is a failure like any other. */
function onThreadPool(begin: (done: (error: unknown, result: number) => void) => void): Promise<number> {
  return new Promise((resolve) => {
    try {
      begin((error, result) => resolve(error ? -1 : result));
    } catch {
      resolve(-1);
    }
  });
}
