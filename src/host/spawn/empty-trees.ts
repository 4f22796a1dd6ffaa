import { findKin } from './process-trees.js';
import { closedTreeCount, knownTrees, treeGone } from './known-trees.js';
import { type Scan, scanWithBreaks } from './process-scan.js';
import { forgetSeen } from './sightings.js';

/** Closed trees that may have members, before it is looked which of them have. So many that a look costs each of them little. */
const MAX_CLOSED = 1024;

let looking = false;
/** Those that have are not counted again. */
let inhabited = 0;

/** Nothing is left of it. */
export function forgetTree(treeId: number): void {
  forgetSeen(treeId);
  treeGone(treeId);
}

/** To be called when a tree is closed: most leave nothing in the background, and need not be remembered for that. */
export function forgetEmptyTrees(): void {
  if (looking || closedTreeCount() < MAX_CLOSED + inhabited) return;
  looking = true;
  void look().finally(() => {
    looking = false;
  });
}

/** Looks twice if something ended while we looked: it may have left a child we did not see. */
async function look(): Promise<void> {
  const closed = [...knownTrees().values()].filter((tree) => tree.closed).map(({ root }) => root.treeId);
  const first = await scanWithBreaks();
  const scans = first.unsettled ? [first, await scanWithBreaks()] : [first];
  const living = new Set(scans.flatMap(livingOwners));
  const isProof = scans.every(({ incomplete }) => !incomplete);
  const empty = isProof ? closed.filter((treeId) => !living.has(treeId)) : [];
  for (const treeId of empty) forgetTree(treeId);
  inhabited = closed.length - empty.length;
}

function livingOwners(scan: Scan): number[] {
  const { families, strays } = findKin(scan);
  return [...families.keys(), ...strays.flatMap(({ treeIds }) => treeIds)];
}
