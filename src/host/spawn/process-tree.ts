import { constants } from 'node:os';
import type { SignalName } from '../../contract/index.js';
import type { ScannedProcess } from './process-scan.js';
import { forgetEmptyTrees } from './empty-trees.js';
import { leaderGone, rememberTree, type TreeListener, type TreeRoot, treeClosed } from './known-trees.js';
import { noteOrphans } from './orphan-notes.js';
import { killTrees, livingMembers, sendSignal } from './tree-killer.js';

/** A child and its descendants. */
export class ProcessTree {
  readonly #root: TreeRoot;
  readonly #listener: TreeListener = { gone: undefined };
  #leaderReaped = false;

  constructor(root: TreeRoot) {
    this.#root = root;
    rememberTree(root, this.#listener);
    noteOrphans();
  }

  /** The listener stays in memory until it is called. */
  set onGone(listener: () => void) {
    this.#listener.gone = listener;
  }

  get pid(): number {
    return this.#root.pid;
  }

  get treeId(): number {
    return this.#root.treeId;
  }

  /** From here on the pid may be reused once its group is empty. */
  leaderReaped(): void {
    this.#leaderReaped = true;
    leaderGone(this.#root);
    noteOrphans();
  }

  signalGroup(signal: SignalName): boolean {
    if (!(signal in constants.signals)) return false;
    if (this.#leaderReaped && !this.#members().some(({ group }) => group === this.pid)) return false;
    return sendSignal(-this.pid, signal);
  }

  kill(): Promise<boolean> {
    return killTrees([this.treeId]);
  }

  survivors(): readonly number[] {
    return this.#members().map(({ pid }) => pid);
  }

  closed(): void {
    treeClosed(this.#root);
    forgetEmptyTrees();
  }

  #members(): readonly ScannedProcess[] {
    return livingMembers(this.treeId);
  }
}
