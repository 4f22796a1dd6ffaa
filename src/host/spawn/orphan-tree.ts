import { isForeignChild, mayBeForeign } from './foreign-children.js';
import { knownTrees } from './known-trees.js';
import { isSubreaper } from './orphans.js';
import { ownStat, type ScannedProcess } from './process-scan.js';
import { isWatched } from './reaper.js';
import { isTreeNumber, readSlack, slackOf } from './timer-slack.js';

/** Our parent, if it adopts what earlier servers left. */
let keeper = -1;

export function inheritOrphans(parent: number): void {
  keeper = parent;
}

/** Children of our keeper that it has started itself. */
const siblings = new Set<number>();

/** Another server of our keeper is not an orphan of ours. */
export function spareSibling(pid: number): void {
  siblings.add(pid);
}

/** Ids of the trees it may belong to; null if it is not one of ours. */
export type PossibleTrees = readonly number[] | null;

/**
 * Finds the tree of an orphan that has lost its mark. A child that we did not start was left by a process below us. Its
 * timer slack identifies the tree; if that cannot be read, it may be any tree that existed when it started.
 */
export function treeOfOrphan(each: ScannedProcess): PossibleTrees {
  if (!isOrphan(each)) return null;
  const slack = readSlack(each.pid);
  if (slack === 'none') return null;
  const then = treesAt(each.startTick);
  const named = then.filter((treeId) => slackOf(treeId) === slack);
  if (named.length > 0) return named;
  if (slack !== 'unreadable' && isTreeNumber(slack)) return null;
  // Indistinguishable from what a foreign child in this process may have left behind.
  return mayBeForeign(each.startTick) || then.length === 0 ? null : then;
}

/** True for a child of ours that no code in this process started. */
function isOrphan({ pid, parent, session, unmarked }: ScannedProcess): boolean {
  if (!isSubreaper() || !unmarked || (parent !== process.pid && parent !== keeper)) return false;
  return session !== ownStat().session && !isWatched(pid) && !isForeignChild(pid) && !siblings.has(pid);
}

function treesAt(startTick: number): number[] {
  return [...knownTrees().values()]
    .filter(({ root }) => root.marked && root.startTick <= startTick)
    .map(({ root }) => root.treeId);
}
