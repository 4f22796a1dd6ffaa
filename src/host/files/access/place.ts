import { readlinkSync } from 'node:fs';
import { canHoldDirectories, holdResolved } from './held-directory.js';

/** Where something really is: its path without links, one character per byte (latin1). */
export type Place = string;

/** What the kernel says of an open descriptor. It knows without asking a disk, so this does not wait. */
export function placeOfDescriptor(fd: number): Place {
  return readlinkSync(`/proc/self/fd/${fd}`, 'latin1');
}

/** Where a directory is now. Undefined where the system does not tell. */
export async function placeOf(directory: Buffer): Promise<Place | undefined> {
  if (!canHoldDirectories) return undefined;
  await using held = await holdResolved(directory);
  return placeOfDescriptor(held.fd);
}
