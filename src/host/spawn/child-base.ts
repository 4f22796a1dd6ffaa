import type { SignalName, TerminalSize, TerminalState } from '../../contract/index.js';
import type { Child, ChildSink } from './child.js';
import type { ChildInput } from './child-input.js';
import type { ChildEnd } from './exit-status.js';
import type { TreeRoot } from './known-trees.js';
import { ProcessTree } from './process-tree.js';

/** What both backends share: the process tree, stdin, and the order of the final events. */
export abstract class ChildBase implements Child {
  readonly #tree: ProcessTree;
  readonly #sink: ChildSink;
  #exited = false;
  #closed = false;

  constructor(root: TreeRoot, sink: ChildSink) {
    this.#tree = new ProcessTree(root);
    this.#sink = sink;
  }

  protected abstract readonly input: ChildInput;
  /** True once all output streams have ended. */
  protected abstract readonly outputEnded: boolean;

  abstract resize(size: TerminalSize): void;
  abstract terminalState(): TerminalState | null;
  abstract pause(): void;
  abstract resume(): void;
  abstract abandonOutput(): void;

  set onTreeGone(listener: () => void) {
    this.#tree.onGone = listener;
  }

  get pid(): number {
    return this.#tree.pid;
  }

  get treeId(): number {
    return this.#tree.treeId;
  }

  get queuedBytes(): number {
    return this.input.queuedBytes;
  }

  get stdinOpen(): boolean {
    return this.input.open;
  }

  write(bytes: Uint8Array, id?: string): void {
    this.input.write(bytes, id);
  }

  onceWritable(limit: number): Promise<void> {
    return this.input.onceWritable(limit);
  }

  closeStdin(): void {
    this.input.close();
  }

  signalGroup(signal: SignalName): boolean {
    return this.#tree.signalGroup(signal);
  }

  killTree(): Promise<boolean> {
    return this.#tree.kill();
  }

  survivors(): readonly number[] {
    return this.#tree.survivors();
  }

  /** The direct child has ended. Its remaining output must be delivered before `reportExit`. */
  protected leaderReaped(): void {
    this.#tree.leaderReaped();
    this.input.destroy();
  }

  protected reportExit(end: ChildEnd): void {
    this.#exited = true;
    this.#sink.exited(end);
    this.closeIfOver();
  }

  /** It has ended, and all listeners know. */
  protected exitedBefore(): void {
    this.#exited = true;
    this.closeIfOver();
  }

  /** Call whenever an output stream ends. */
  protected closeIfOver(): void {
    if (this.#closed || !this.#exited || !this.outputEnded) return;
    this.#closed = true;
    this.#tree.closed();
    this.#sink.closed();
  }
}
