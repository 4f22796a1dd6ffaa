import { constants } from 'node:fs';
import { kernelCalls, type KernelCalls, linux } from '../../kernel/index.js';
import { withCachedFd, descriptorPath } from './place.js';

/** Copying this much takes some 25 µs; a trip to the thread pool, which larger files are worth, ten times that. */
const MAX_INSTANT_BYTES = 256 * 1024;

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | linux.O_CLOEXEC;

/** One for all reads; whatever leaves is copied. One byte more than a file may have shows whether it grew. */
let scratch: Buffer | undefined;

/** The content of a small regular file, if it is in memory already; null when somebody would have to wait for it. */
export function readInstantly(path: Buffer, options: { followSymlinks?: boolean }): Buffer | null {
  return withCachedFd(
    path,
    options.followSymlinks === false ? 'none' : 'follow',
    (fd, { kind, size }, calls) => {
      if (kind !== 'file' || size > MAX_INSTANT_BYTES) return null;
      // Through the descriptor: what is opened is what was looked at, whatever has its name by now.
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

/** Null when the file has another size by now, or some of it is not in memory. */
function readWhole(file: number, size: number, calls: KernelCalls): Buffer | null {
  scratch ??= Buffer.allocUnsafeSlow(MAX_INSTANT_BYTES + 1);
  const count = calls.readCached(file, scratch.subarray(0, size + 1), 0);
  return count === size ? Buffer.from(scratch.subarray(0, size)) : null;
}

/**
 * Reads into `target` as much as is in memory from `offset` on. 0 at the end of the file; null when nothing can be had
 * without waiting.
 */
export function readFromMemory(fd: number, target: Uint8Array, offset: number): number | null {
  const count = kernelCalls()?.readCached(fd, target, offset) ?? -1;
  return count < 0 ? null : count;
}
