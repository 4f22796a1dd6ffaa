import { resolve } from 'node:path';

/** Absolute, otherwise as given. */
const places = new Set<string>();

/** Hides this file from every sandbox made from now on, whatever its policy says: knowing its content is a way out. */
export function hideFromSandboxes(path: string): void {
  places.add(resolve(path));
}

/** Files and sockets that lead to this server: tokens, keys, listeners, the list of environments. */
export function ownPlaces(): readonly string[] {
  return [...places];
}
