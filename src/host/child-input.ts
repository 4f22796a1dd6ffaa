import { STDIN_SOFT_LIMIT_BYTES, type WriteStatus } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import type { Child } from './spawn/index.js';

/** Beyond this much queued input, a write is rejected: a program that never reads must not fill our memory. */
const STDIN_HARD_LIMIT_BYTES = 16 * 1024 * 1024;
/** How much may be written without waiting for answers: it fits behind what has been answered, plus one more write. */
export const STDIN_WINDOW_BYTES = STDIN_HARD_LIMIT_BYTES - 2 * STDIN_SOFT_LIMIT_BYTES;

/** The stdin of a child: writes are queued in order, up to a limit. */
export class ChildInput {
  readonly #child: Child;

  constructor(child: Child) {
    this.#child = child;
  }

  get isOpen(): boolean {
    return this.#child.stdinOpen;
  }

  /** What the program has not read. */
  get queuedBytes(): number {
    return this.#child.queuedBytes;
  }

  /** True if there is room for more, or no use for it. */
  get takesMore(): boolean {
    return this.#child.queuedBytes <= STDIN_SOFT_LIMIT_BYTES;
  }

  /**
   * Queues bytes. Past the hard limit it throws `stdinFull` and writes nothing. The id identifies the write to the next server.
   */
  enqueue(data: Uint8Array, id?: string): WriteStatus {
    if (!this.isOpen) return 'stdinClosed';
    if (this.queuedBytes + data.length > STDIN_HARD_LIMIT_BYTES) {
      throw new ExecError('stdinFull', 'The process does not read its input and the queue is full.');
    }
    this.#child.write(data, id);
    return 'accepted';
  }

  /** Resolves once `takesMore` is true. */
  async writable(): Promise<void> {
    if (!this.takesMore) await this.#child.onceWritable(STDIN_SOFT_LIMIT_BYTES);
  }

  /** Closes it behind what is queued. */
  close(): void {
    this.#child.closeStdin();
  }
}
