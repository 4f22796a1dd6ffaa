import { chmodSync, chownSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type Attribute, setExtendedAttribute } from '../kernel/index.js';
import { plainAttributes } from './node.js';
import { ownAttributes } from './scan.js';
import { makePrivateDirectory, type SetRecord } from './set-record.js';

/**
 * Makes the layers in which the changes of a directory are held. The upper one looks like the directory below: its attributes
 * are those that programs see.
 */
export function makeLayers(place: string, path: string): SetRecord['roots'][number] {
  for (const layer of ['work', 'view', 'upper']) makePrivateDirectory(join(place, layer));
  const { mode, uid, gid } = lstatSync(path);
  const upper = join(place, 'upper');
  if (process.geteuid?.() === 0) chownSync(upper, uid, gid);
  chmodSync(upper, mode & 0o7777);
  for (const attribute of plainAttributes(Buffer.from(path))) copyIfPossible(upper, attribute);
  return { path, heldSinceNs: String(nowNs()), attributes: ownAttributes(Buffer.from(upper)) };
}

/** Some file systems have none, and some attributes are not ours to set. */
function copyIfPossible(path: string, attribute: Attribute): void {
  try {
    setExtendedAttribute(Buffer.from(path), attribute);
  } catch {
    // The directory is shown without it.
  }
}

const NS_PER_MS = 1_000_000n;

/** Comparable with the times of files. */
function nowNs(): bigint {
  return BigInt(Date.now()) * NS_PER_MS;
}
