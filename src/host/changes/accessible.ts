import { type BigIntStats, chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs';
import { linux } from '../kernel/index.js';

/** Opens a directory without following a link. That needs no right to read it. */
export function openDirectory(path: Buffer | string): number {
  return openSync(path, linux.O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/** What is at a path, held by descriptor: what is done to `own` cannot be led elsewhere. */
export interface Handle {
  readonly own: Buffer;
  readonly node: BigIntStats;
}

/** Holds what is at a path, a link itself included, while it is used. */
export function withHandle<T>(path: Buffer, use: (handle: Handle) => T): T {
  const fd = openSync(path, linux.O_PATH | constants.O_NOFOLLOW);
  try {
    return use({ own: Buffer.from(`/proc/self/fd/${fd}`), node: fstatSync(fd, { bigint: true }) });
  } finally {
    closeSync(fd);
  }
}

/** Opens a regular file for reading, without following a link or waiting for a writer. */
export function openForReading(path: Buffer): number {
  return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

/** Opens a held file for reading even if its mode forbids that. */
export function openHeldFile(path: Buffer, node: BigIntStats): number {
  try {
    return openForReading(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
  }
  const handle = openSync(path, linux.O_PATH | constants.O_NOFOLLOW);
  const own = `/proc/self/fd/${handle}`;
  const mode = Number(node.mode) & 0o7777;
  try {
    chmodSync(own, mode | 0o400);
    return openSync(own, constants.O_RDONLY | constants.O_NONBLOCK);
  } finally {
    chmodSync(own, mode);
    closeSync(handle);
  }
}
