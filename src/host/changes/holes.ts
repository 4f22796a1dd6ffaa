import type { BigIntStats } from 'node:fs';
import { libc, linux } from '../kernel/index.js';

const BYTES_PER_SECTOR = 512n;

/** Whether a file has holes, as far as that can be told without looking for them. */
export function isSparse({ blocks, size }: BigIntStats): boolean {
  return blocks * BYTES_PER_SECTOR < size;
}

/** A place in an open file. */
interface Position {
  readonly offset: number;
  /** Of the file. */
  readonly size: number;
}

/** Where the next bytes begin that are not a hole; the size if only a hole is left. */
export function dataFrom(fd: number, { offset, size }: Position): number {
  const start = libc().lseek(fd, offset, linux.SEEK_DATA);
  if (start >= 0) return start;
  // Where nobody can tell, everything is data.
  return libc().errno() === 'ENXIO' ? size : offset;
}

/** Where the bytes at an offset end that are not a hole. */
export function holeFrom(fd: number, { offset, size }: Position): number {
  const end = libc().lseek(fd, offset, linux.SEEK_HOLE);
  return end < 0 ? size : Math.min(end, size);
}
