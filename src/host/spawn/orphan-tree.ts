import { isForeignChild, mayBeForeign } from './foreign-children.js';
import { knownTrees } from './known-trees.js';
import { isSubreaper } from './orphans.js';
import { ownStat, type ScannedProcess } from './process-scan.js';
import { isWatched } from './reaper.js';
import { isTreeNumber, readSlack, slackOf } from './timer-slack.js';

/** TreeIds of the trees it may belong to; null if it is none of ours. */
export type Belonging = readonly number[] | null;

/**
 * Whose an orphan is that has lost its mark. What became our child without being started by us was left by a process below
 * us. Its own number tells by which; where that cannot be read, it is one of the trees that were there when it began.
 */
export function treeOfOrphan(each: ScannedProcess): Belonging {
  if (!isOrphan(each)) return null;
  const slack = readSlack(each.pid);
  if (slack === 'none') return null;
  const then = treesAt(each.startTick);
  const named = then.filter((treeId) => slackOf(treeId) === slack);
  if (named.length > 0) return named;
  if (slack !== 'unreadable' && isTreeNumber(slack)) return null;
  // Nobody can tell it from what a child of somebody else in this process has left.
  return mayBeForeign(each.startTick) || then.length === 0 ? null : then;
}

/** Whether it is a child of ours that nobody in this process has started. */
export function isOrphan({ pid, parent, session, unmarked }: ScannedProcess): boolean {
  if (!isSubreaper() || !unmarked || parent !== process.pid) return false;
  return session !== ownStat().session && !isWatched(pid) && !isForeignChild(pid);
}

function treesAt(startTick: number): number[] {
  return [...knownTrees().values()]
    .filter(({ root }) => root.marked && root.startTick <= startTick)
    .map(({ root }) => root.treeId);
}
