import type { Child } from './child.js';
import type { TreeRoot } from './known-trees.js';
import { ProcessTree } from './process-tree.js';

/** A child whose output has closed, known from an earlier server. Something it left behind may still run. */
export function goneChild(root: TreeRoot): Child {
  const tree = new ProcessTree(root);
  tree.leaderReaped();
  tree.closed();
  return {
    pid: root.pid,
    treeId: root.treeId,
    queuedBytes: 0,
    stdinOpen: false,
    write: () => {},
    onceWritable: () => Promise.resolve(),
    closeStdin: () => {},
    resize: () => {},
    terminalState: () => null,
    pause: () => {},
    resume: () => {},
    signalGroup: (signal) => tree.signalGroup(signal),
    killTree: () => tree.kill(),
    survivors: () => tree.survivors(),
    set onTreeGone(listener: () => void) {
      tree.onGone = listener;
    },
    abandonOutput: () => {},
  };
}
