import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { type Identity, Place } from '../host/sandbox/harness.js';

const parent = process.getuid?.() === 0 ? '/run' : homedir();

/** A home below a temporary directory is no such place. */
export const hasOwnPlace = isOwn(parent);

/** A place to which only the identity and root can write, all the way up. A temporary directory is everybody's. */
export function ownPlace(identity: Identity): Place {
  return new Place(identity, parent);
}

/** Nobody else can write to it, nor to anything above. */
function isOwn(path: string): boolean {
  const { uid, mode } = lstatSync(path);
  if ((mode & 0o022) !== 0 || ![0, process.getuid?.()].includes(uid)) return false;
  return path === '/' || isOwn(dirname(path));
}
