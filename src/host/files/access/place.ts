import { readlinkSync } from 'node:fs';
import { canHoldDirectories, holdResolved } from './held-directory.js';

/** A real path: without symbolic links, one character per byte (latin1). */
export type Place = string;

/** The real path of an open descriptor. The kernel knows it without asking a disk, so this does not block. */
export function placeOfDescriptor(fd: number): Place {
  return readlinkSync(`/proc/self/fd/${fd}`, 'latin1');
}

/** The current real path of a directory. Undefined if the system does not tell. */
export async function placeOf(directory: Buffer): Promise<Place | undefined> {
  if (!canHoldDirectories) return undefined;
  await using held = await holdResolved(directory);
  return placeOfDescriptor(held.fd);
}
