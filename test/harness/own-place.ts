import { homedir } from 'node:os';
import { type Identity, Place } from '../host/sandbox/harness.js';

/** A place to which only the identity and root can write, all the way up. A temporary directory is everybody's. */
export function ownPlace(identity: Identity): Place {
  return new Place(identity, process.getuid?.() === 0 ? '/run' : homedir());
}
