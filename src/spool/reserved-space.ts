import { closeSync, constants, fstatSync, ftruncateSync, lstatSync, openSync, type Stats } from 'node:fs';

/** Takes space on disk for a file that will grow, beyond its end. False if that cannot be done. */
export type ReserveSpace = (descriptor: number, from: number, bytes: number) => boolean;

const STAT_BLOCK_BYTES = 512;
/** File systems round up. */
const ROUNDING_BYTES = 128 * 1024;

/** What an open file takes on disk, with what an earlier server may have reserved behind its end. */
export function takenBytes(descriptor: number): number {
  const { size, blocks } = fstatSync(descriptor);
  return Math.max(size, blocks * STAT_BLOCK_BYTES);
}

/** Gives space back that a file has behind this position; it would be taken for as long as the file is there. */
export function releaseSpace(descriptor: number, end: number): void {
  try {
    ftruncateSync(descriptor, end);
  } catch {
    // It goes with the file.
  }
}

/** The same for a file that a server left when it was killed. Returns the size of the file. */
export function releaseLeftSpace(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() && hasSurplus(stats)) releaseSpaceAt(path);
  return stats?.size ?? 0;
}

function releaseSpaceAt(path: string): void {
  try {
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    releaseSpace(descriptor, fstatSync(descriptor).size);
    closeSync(descriptor);
  } catch {
    // As long as it cannot be opened, it stays as it is.
  }
}

function hasSurplus({ blocks, size }: Stats): boolean {
  return blocks * STAT_BLOCK_BYTES > size + ROUNDING_BYTES;
}
