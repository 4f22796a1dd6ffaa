import { mountTable, parseMountTable } from '../sandbox/index.js';
import { byteText } from './byte-path.js';
import type { FoundChange } from './scan.js';

/** Where something is mounted below a directory, relative to it. */
export function mountedPlaces(root: string): string[] {
  const around = byteText(Buffer.from(root === '/' ? '/' : `${root}/`));
  return parseMountTable(mountTable())
    .map(({ path }) => byteText(Buffer.from(path)))
    .filter((path) => path !== around && path.startsWith(around))
    .map((path) => path.slice(around.length));
}

/**
 * Whether something was mounted over what a program changed, or into a directory that it removed. The program did not see it,
 * and it is not part of the directory whose changes are held.
 */
export function isCovered({ path, kind, base }: FoundChange, places: readonly string[]): boolean {
  return places.some(
    (place) =>
      path === place ||
      path.startsWith(`${place}/`) ||
      (kind !== 'attributesChanged' && base?.isDirectory() === true && place.startsWith(`${path}/`)),
  );
}
