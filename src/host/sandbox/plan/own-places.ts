import { resolve } from 'node:path';

/** Absolute, as they were named. */
const places = new Set<string>();

/** No sandbox made from now on shows this file, whatever its policy says: whoever knows what is in it gets out. */
export function hideFromSandboxes(path: string): void {
  places.add(resolve(path));
}

/** Files and sockets that lead to this server: tokens, keys, listeners, the list of environments. */
export function ownPlaces(): readonly string[] {
  return [...places];
}
