import { ExecError } from '../../protocol/errors.js';
import { pathBytes } from '../../protocol/file-uri.js';
import { byteText } from './byte-path.js';
import type { SetRecord } from './set-record.js';

/** A path in one of the directories of a set. */
export interface LocatedPath {
  /** The number of the directory. */
  readonly root: number;
  /** Relative to it. */
  readonly relative: string;
}

/** Where a path is in a set. Throws if its changes are not held. */
export function locate({ roots }: SetRecord, path: string): LocatedPath {
  const found = innermost(roots, byteText(pathBytes(path)));
  if (found === null) throw notHeld();
  return found;
}

/** The same for several paths, by directory. A path that contains directories of the set stands for them. */
export function byRoot({ roots }: SetRecord, paths: readonly string[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  for (const path of paths) {
    const bytes = byteText(pathBytes(path));
    const inside = innermost(roots, bytes);
    const below = roots.flatMap((each, root) =>
      isStrictlyBelow(byteText(Buffer.from(each.path)), bytes) ? [{ root, relative: '' }] : [],
    );
    const places = [...(inside ? [inside] : []), ...below];
    if (places.length === 0) throw notHeld();
    for (const { root, relative } of places) found.set(root, [...(found.get(root) ?? []), relative]);
  }
  return found;
}

function innermost(roots: SetRecord['roots'], path: string): LocatedPath | null {
  const around = roots
    .map((each, root) => ({ root, place: byteText(Buffer.from(each.path)) }))
    .filter(({ place }) => path === place || isStrictlyBelow(path, place))
    .toSorted((a, b) => b.place.length - a.place.length);
  const [best] = around;
  if (best === undefined) return null;
  return { root: best.root, relative: path.slice(best.place.length).replace(/^\//, '') };
}

function isStrictlyBelow(path: string, place: string): boolean {
  return path !== place && path.startsWith(place === '/' ? '/' : `${place}/`);
}

function notHeld(): ExecError {
  return new ExecError('invalidPath', 'The path is not in a directory whose changes this set holds.');
}
