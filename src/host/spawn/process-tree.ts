import { constants } from 'node:os';
import type { SignalName } from '../../contract/index.js';
import type { ScannedProcess } from './process-scan.js';
import { forgetEmptyTrees } from './empty-trees.js';
import { leaderGone, rememberTree, type TreeHearer, type TreeRoot, treeClosed } from './known-trees.js';
import { noteOrphans } from './orphan-notes.js';
import { killTrees, livingMembers, sendSignal } from './tree-killer.js';

/** The processes that descend from one child. */
export class ProcessTree {
  readonly #root: TreeRoot;
  readonly #hearer: TreeHearer = { gone: undefined };
  #leaderReaped = false;

  constructor(root: TreeRoot) {
    this.#root = root;
    rememberTree(root, this.#hearer);
    noteOrphans();
  }

  /** What is called here is kept in memory until then. */
  set onGone(listener: () => void) {
    this.#hearer.gone = listener;
  }

  get pid(): number {
    return this.#root.pid;
  }

  get treeId(): number {
    return this.#root.treeId;
  }

  /** From here on the pid may be given to somebody else once its group is empty. */
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
