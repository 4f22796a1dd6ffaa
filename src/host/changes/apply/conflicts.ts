import { closeSync } from 'node:fs';
import { errnoOf, openBeneath, TimeSlice } from '../../kernel/index.js';
import { openDirectory } from '../accessible.js';
import type { Bases } from '../bases.js';
import { entryOf } from '../byte-path.js';
import { nodeAt } from '../node.js';
import { type FoundChange, namesIn } from '../scan.js';
import { requireDepth } from '../set-limits.js';
import type { RootChanges } from './plan.js';

/** The changes whose base somebody else has changed since the program took it over. */
export async function conflictsIn(
  { root, layers, changes }: RootChanges,
  { bases, settledNs }: { bases: Bases; settledNs: bigint },
): Promise<FoundChange[]> {
  const found: FoundChange[] = [];
  for (const change of changes) {
    const isConflict =
      bases.isConflict(root, change) ||
      (replacesDirectory(change) && (await hasNewer(layers.base, change.path, settledNs)));
    if (isConflict) found.push(change);
  }
  return found;
}

function replacesDirectory({ base, kind }: FoundChange): boolean {
  return base?.isDirectory() === true && kind !== 'attributesChanged';
}

/** Whether anything in a directory was changed after a point in time. */
async function hasNewer(base: number, path: string, sinceNs: bigint): Promise<boolean> {
  const directory = openBeneath(base, Buffer.from(path, 'latin1'));
  try {
    return await anyNewer(directory, { sinceNs, slice: new TimeSlice(), depth: 0 });
  } finally {
    closeSync(directory);
  }
}

interface Search {
  readonly sinceNs: bigint;
  readonly slice: TimeSlice;
  readonly depth: number;
}

async function anyNewer(directory: number, search: Search): Promise<boolean> {
  const { sinceNs, slice, depth } = search;
  requireDepth(depth);
  let names: string[];
  try {
    names = namesIn(directory);
  } catch (error) {
    // What we may not read, we may not delete either: that will tell.
    if (errnoOf(error) === 'EACCES') return false;
    throw error;
  }
  for (const name of names) {
    const node = nodeAt(entryOf(directory, name));
    if (node === undefined) continue;
    if (node.ctimeNs > sinceNs) return true;
    if (node.isDirectory() && (await inSubdirectory(entryOf(directory, name), search))) return true;
    await slice.yieldIfOver();
  }
  return false;
}

async function inSubdirectory(entry: Buffer, search: Search): Promise<boolean> {
  const inner = openDirectory(entry);
  try {
    return await anyNewer(inner, { ...search, depth: search.depth + 1 });
  } finally {
    closeSync(inner);
  }
}
