import { ancestorsOf } from '../byte-path.js';
import type { FoundChange } from '../scan.js';

/**
 * The changes at or below the given paths. A new directory that something selected lies in is selected with it, but not
 * the rest of what is in it. No paths: everything.
 */
export function select(changes: readonly FoundChange[], paths: readonly string[] | null): FoundChange[] {
  if (paths === null || paths.includes('')) return [...changes];
  const wanted = new Set(paths);
  const chosen = new Set(changes.filter(({ path }) => isAtOrBelow(path, wanted)).map(({ path }) => path));
  const ancestors = new Set([...chosen].flatMap(ancestorsOf));
  return changes.filter(
    (change) => chosen.has(change.path) || (ancestors.has(change.path) && isNewDirectory(change)),
  );
}

function isNewDirectory({ kind, held }: FoundChange): boolean {
  return held?.isDirectory() === true && kind !== 'attributesChanged';
}

function isAtOrBelow(path: string, wanted: ReadonlySet<string>): boolean {
  return wanted.has(path) || ancestorsOf(path).some((ancestor) => wanted.has(ancestor));
}
