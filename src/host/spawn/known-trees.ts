import { enterTree, strikeTree } from './ledger.js';
import { reserveTreeId } from './tree-mark.js';

/** The root of a process tree. */
export interface TreeRoot {
  readonly pid: number;
  readonly treeId: number;
  /** Read before the child started, in the ticks of the kernel's start times. */
  readonly startTick: number;
  /** True if the root was started with the tree's mark. */
  readonly marked: boolean;
}

/** A tree that may have members. */
export interface KnownTree {
  readonly root: TreeRoot;
  /** When the child was reaped. Until then nobody else can have its pid or process group id. */
  reapedAt: number;
  /** Its output is closed: anything left of it runs in the background. */
  closed: boolean;
  listener: TreeListener;
}

/**
 * Notified when a tree is gone. A separate object, so that a long-remembered tree does not keep its child in memory.
 */
export interface TreeListener {
  gone: (() => void) | undefined;
}

const trees = new Map<number, KnownTree>();
let closedTrees = 0;

/**
 * Call for every child, as soon as it is started, and for every child of an earlier server before any is started: no other tree
 * may get its id, even if nothing of it runs any more: ending one would end the other.
 */
export function rememberTree(root: TreeRoot, listener: TreeListener): void {
  reserveTreeId(root.treeId);
  const known = trees.get(root.treeId);
  if (known) {
    known.listener = listener;
    return;
  }
  trees.set(root.treeId, { root, reapedAt: Number.POSITIVE_INFINITY, closed: false, listener });
  if (root.marked) enterTree(root);
}

/** The child has been reaped. */
export function leaderGone({ treeId }: TreeRoot): void {
  const tree = trees.get(treeId);
  if (!tree) return;
  tree.reapedAt = performance.now();
  if (tree.root.marked) enterTree({ ...tree.root, pid: 0 });
}

/** Its output is closed. Without a mark it can no longer be recognized. */
export function treeClosed({ treeId }: TreeRoot): void {
  const tree = trees.get(treeId);
  if (!tree || tree.closed) return;
  tree.closed = true;
  closedTrees += 1;
  if (!tree.root.marked) treeGone(treeId);
}

/** Nothing is left of it, for good. */
export function treeGone(treeId: number): void {
  const tree = trees.get(treeId);
  if (!tree) return;
  trees.delete(treeId);
  if (tree.closed) closedTrees -= 1;
  const isReaped = tree.reapedAt !== Number.POSITIVE_INFINITY;
  if (tree.root.marked) strikeTree({ ...tree.root, pid: isReaped ? 0 : tree.root.pid });
  tree.listener.gone?.();
}

export function knownTrees(): ReadonlyMap<number, KnownTree> {
  return trees;
}

/** How many closed trees may still have members. */
export function closedTreeCount(): number {
  return closedTrees;
}
