import { childrenOf } from '../kernel/index.js';
import { knownTrees } from './known-trees.js';
import { enterOrphans } from './ledger.js';
import { treeOfOrphan } from './orphan-tree.js';
import { isSubreaper } from './orphans.js';
import { look } from './process-scan.js';
import { isWatched } from './reaper.js';
import { slackOf } from './timer-slack.js';

/** A child that ends leaves its orphans right away. */
const SOON_MS = 50;
/** One that keeps running may leave orphans at any time, without notice. */
const AGAIN_MS = 1000;

let timer: NodeJS.Timeout | undefined;
let dueAt = 0;

/**
 * If the watchdog cannot tell which tree an orphan belongs to, it must know of every orphan that exists while we live.
 * Call when a tree starts, and when its child has ended.
 */
export function noteOrphans(): void {
  if (!isSubreaper() || slackOf(0) !== 0) return;
  schedule(SOON_MS);
}

function schedule(ms: number): void {
  const due = performance.now() + ms;
  if (timer !== undefined && dueAt <= due) return;
  clearTimeout(timer);
  dueAt = due;
  timer = setTimeout(note, ms).unref();
}

function note(): void {
  timer = undefined;
  const orphans = adoptedChildren().flatMap((pid) => {
    const found = look(pid);
    return found !== null && treeOfOrphan(found) !== null ? [found] : [];
  });
  enterOrphans(orphans);
  const running = [...knownTrees().values()].some(({ reapedAt }) => reapedAt > performance.now());
  if (running || orphans.length > 0) schedule(AGAIN_MS);
}

/** Children we did not start. Empty if the kernel does not list children. */
function adoptedChildren(): number[] {
  return childrenOf(`/proc/self/task/${process.pid}`).filter((pid) => pid > 0 && !isWatched(pid));
}
