import type { Bases } from '../bases.js';
import { ancestorsOf } from '../byte-path.js';
import type { FoundChange } from '../scan.js';
import type { RootChanges } from './plan.js';

/**
 * The changes whose base somebody else has changed since the program took it over. A directory that would go with such a file
 * in it is one of them.
 */
export function conflictsIn({ root, changes, covered }: RootChanges, bases: Bases): FoundChange[] {
  const changed = changes
    .filter((change) => covered.has(change) || bases.isConflict(root, change))
    .map(({ path }) => path);
  const around = new Set(changed.flatMap(ancestorsOf));
  const found = new Set(changed);
  return changes.filter(
    (change) => found.has(change.path) || (around.has(change.path) && replacesDirectory(change)),
  );
}

function replacesDirectory({ base, kind }: FoundChange): boolean {
  return base?.isDirectory() === true && kind !== 'attributesChanged';
}
