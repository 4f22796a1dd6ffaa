import { sortIntoTrees } from './process-trees.js';
import { closedTreeCount, knownTrees, treeGone } from './known-trees.js';
import { type Scan, scanWithBreaks } from './process-scan.js';
import { forgetSeen } from './sightings.js';

/** Closed trees that may have members, before we check which of them do. Enough to spread the cost of a scan thinly. */
const MAX_CLOSED = 1024;

let looking = false;
/** Trees found to have members, which are not counted again. */
let inhabited = 0;

/** Nothing is left of the tree. */
export function forgetTree(treeId: number): void {
  forgetSeen(treeId);
  treeGone(treeId);
}

/** Call when a tree is closed: most leave nothing in the background and need not be remembered. */
export function forgetEmptyTrees(): void {
  if (looking || closedTreeCount() < MAX_CLOSED + inhabited) return;
  looking = true;
  void look().finally(() => {
    looking = false;
  });
}

/** Scans twice if a process ended during the first scan, since it may have left a child we did not see. */
async function look(): Promise<void> {
  const closed = [...knownTrees().values()].filter((tree) => tree.closed).map(({ root }) => root.treeId);
  const first = await scanWithBreaks();
  const scans = first.unsettled ? [first, await scanWithBreaks()] : [first];
  const living = new Set(scans.flatMap(inhabitedTrees));
  const isProof = scans.every(({ incomplete }) => !incomplete);
  const empty = isProof ? closed.filter((treeId) => !living.has(treeId)) : [];
  for (const treeId of empty) forgetTree(treeId);
  inhabited = closed.length - empty.length;
}

function inhabitedTrees(scan: Scan): number[] {
  const { trees, unplaced } = sortIntoTrees(scan);
  return [...trees.keys(), ...unplaced.flatMap(({ treeIds }) => treeIds)];
}
