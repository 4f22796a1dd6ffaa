import { ProcessTree } from './process-tree.js';
import type { TreeRoot } from './known-trees.js';

/** A tree of an earlier server whose child is forgotten. Calls back when nothing is left of it. */
export function rememberLeftTree(root: TreeRoot, gone: () => void): void {
  const tree = new ProcessTree(root);
  tree.leaderReaped();
  tree.onGone = gone;
  tree.closed();
}
