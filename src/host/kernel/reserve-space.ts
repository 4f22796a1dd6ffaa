import { type Libc, openGlibc, unlessScarce } from './libc.js';
import { linux } from './linux.js';

let loaded: Libc | null | undefined;

/**
 * Takes space on disk for a file that grows soon; its size stays as it is. Blocks that are there already make writing a
 * third cheaper. False if the system or the disk cannot do that, which is no reason not to write.
 */
export function reserveSpace(fd: number, from: number, bytes: number): boolean {
  loaded ??= unlessScarce(() => openGlibc('fallocate'));
  return loaded?.fallocate(fd, linux.FALLOC_FL_KEEP_SIZE, from, bytes) === 0;
}
