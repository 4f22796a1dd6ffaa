import { constants } from 'node:fs';
import { kernelCalls, type KernelCalls, linux } from '../../kernel/index.js';
import { withCachedFd, descriptorPath } from './place.js';

/**
 * Copying this much takes about 25 µs; a trip to the thread pool takes ten times that, which only larger files are
 * worth.
 */
const MAX_CACHED_BYTES = 256 * 1024;

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | linux.O_CLOEXEC;

/** Shared by all reads; results are copied. One byte beyond the limit shows whether a file grew. */
let scratch: Buffer | undefined;

/** The content of a small regular file if it is in memory already; null if reading would block. */
export function readCachedFile(path: Buffer, options: { followSymlinks?: boolean }): Buffer | null {
  return withCachedFd(
    path,
    options.followSymlinks === false ? 'none' : 'follow',
    (fd, { kind, size }, calls) => {
      if (kind !== 'file' || size > MAX_CACHED_BYTES) return null;
      // Through the descriptor: we open exactly what we checked, whatever has its name by now.
      const file = calls.open(descriptorPath(fd), READ_FLAGS);
      if (file < 0) return null;
      try {
        return readWhole(file, size, calls);
      } finally {
        calls.close(file);
      }
    },
  );
}

/** Null if the file has changed its size, or part of it is not in memory. */
function readWhole(file: number, size: number, calls: KernelCalls): Buffer | null {
  scratch ??= Buffer.allocUnsafeSlow(MAX_CACHED_BYTES + 1);
  const count = calls.readCached(file, scratch.subarray(0, size + 1), 0);
  return count === size ? Buffer.from(scratch.subarray(0, size)) : null;
}

/**
 * Reads as much into `target` as is in memory from `offset` on. 0 at the end of the file; null if reading would block.
 */
export function readCachedBytes(fd: number, target: Uint8Array, offset: number): number | null {
  const count = kernelCalls()?.readCached(fd, target, offset) ?? -1;
  return count < 0 ? null : count;
}
