import { enterTree, strikeTree } from './ledger.js';

/** Where a tree begins. */
export interface TreeRoot {
  readonly pid: number;
  readonly treeId: number;
  /** Read before it began, in the ticks of the kernel's own start times. */
  readonly startTick: number;
  /** Whether it was given the tree's number to hand on. */
  readonly marked: boolean;
}

/** A tree that may have members. */
export interface KnownTree {
  readonly root: TreeRoot;
  /** When its child was reaped. Until then its number and that of its group cannot be anybody else's. */
  reapedAt: number;
  /** Its output is closed: what is left of it, if anything, runs in the background. */
  closed: boolean;
  hearer: TreeHearer;
}

/** Who is told when a tree is gone. A thing of its own: a tree is remembered for long, and must not keep its child in memory. */
export interface TreeHearer {
  gone: (() => void) | undefined;
}

const trees = new Map<number, KnownTree>();
let closedTrees = 0;

/** To be called for every child that is started, right then. */
export function rememberTree(root: TreeRoot, hearer: TreeHearer): void {
  const known = trees.get(root.treeId);
  if (known) {
    known.hearer = hearer;
    return;
  }
  trees.set(root.treeId, { root, reapedAt: Number.POSITIVE_INFINITY, closed: false, hearer });
  if (root.marked) enterTree(root);
}

/** The child is reaped. */
export function leaderGone({ treeId }: TreeRoot): void {
  const tree = trees.get(treeId);
  if (!tree) return;
  tree.reapedAt = performance.now();
  if (tree.root.marked) enterTree({ ...tree.root, pid: 0 });
}

/** Its output is closed. Without a mark it cannot be told from others any more. */
export function treeClosed({ treeId }: TreeRoot): void {
  const tree = trees.get(treeId);
  if (!tree || tree.closed) return;
  tree.closed = true;
  closedTrees += 1;
  if (!tree.root.marked) treeGone(treeId);
}

/** Nothing of it is left, nor ever will be. */
export function treeGone(treeId: number): void {
  const tree = trees.get(treeId);
  if (!tree) return;
  trees.delete(treeId);
  if (tree.closed) closedTrees -= 1;
  const isReaped = tree.reapedAt !== Number.POSITIVE_INFINITY;
  if (tree.root.marked) strikeTree({ ...tree.root, pid: isReaped ? 0 : tree.root.pid });
  tree.hearer.gone?.();
}

export function knownTrees(): ReadonlyMap<number, KnownTree> {
  return trees;
}

/** How many are closed and may have members none the less. */
export function closedTreeCount(): number {
  return closedTrees;
}
