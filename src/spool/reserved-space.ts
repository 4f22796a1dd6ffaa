import { closeSync, constants, fstatSync, ftruncateSync, lstatSync, openSync, type Stats } from 'node:fs';

/** Reserves disk space beyond the end of a file that will grow. False if that is not possible. */
export type ReserveSpace = (descriptor: number, from: number, bytes: number) => boolean;

const STAT_BLOCK_BYTES = 512;
/** File systems round up by less than this. */
const ROUNDING_BYTES = 128 * 1024;

/** The disk space of an open file, including what an earlier server may have reserved beyond its end. */
export function takenBytes(descriptor: number): number {
  const { size, blocks } = fstatSync(descriptor);
  return Math.max(size, blocks * STAT_BLOCK_BYTES);
}

/** Frees the space a file has reserved beyond a position, which it would otherwise keep. */
export function releaseSpace(descriptor: number, end: number): void {
  try {
    ftruncateSync(descriptor, end);
  } catch {
    // It is freed with the file.
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
    // A file that cannot be opened stays as it is.
  }
}

function hasSurplus({ blocks, size }: Stats): boolean {
  return blocks * STAT_BLOCK_BYTES > size + ROUNDING_BYTES;
}
