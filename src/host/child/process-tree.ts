import { constants } from 'node:os';
import type { SignalName } from '../../contract/index.js';
import { forgetTree, killTrees, livingMembers, rememberTree, sendSignal } from './tree-killer.js';

/** Where a tree begins. */
export interface TreeRoot {
  readonly pid: number;
  readonly owner: number;
  /** Whether all of it carries the owner's number. */
  readonly marked: boolean;
}

/** The processes that descend from one child. */
export class ProcessTree {
  readonly pid: number;
  readonly owner: number;
  readonly #marked: boolean;
  #leaderReaped = false;

  constructor(root: TreeRoot) {
    this.pid = root.pid;
    this.owner = root.owner;
    this.#marked = root.marked;
    if (!root.marked) rememberTree(root.pid, root.owner);
  }

  /** From here on the pid may be given to somebody else once its group is empty. */
  leaderReaped(): void {
    this.#leaderReaped = true;
  }

  signalGroup(signal: SignalName): boolean {
    if (!(signal in constants.signals)) return false;
    if (this.#leaderReaped && !this.#members().some(({ group }) => group === this.pid)) return false;
    return sendSignal(-this.pid, signal);
  }

  kill(): Promise<boolean> {
    // Without marks the scan must see the parents of whoever left the group, so they may not die first.
    if (this.#marked && !this.#leaderReaped) sendSignal(-this.pid, 'SIGKILL');
    return killTrees([this.owner]);
  }

  survivors(): readonly number[] {
    return this.#members().map(({ pid }) => pid);
  }

  /** Its output is closed. Marked processes are found none the less. */
  forget(): void {
    forgetTree(this.pid);
  }

  #members(): ReturnType<typeof livingMembers> {
    return livingMembers(this.owner);
  }
}
