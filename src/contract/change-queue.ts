import type { FileChange, FileChanges } from './file-watch.js';

/** Changed paths kept for a reader that is away; beyond this they become an overflow. About 1 MB at most. */
export const MAX_PENDING_CHANGES = 4096;

/** No one wants to hear of changes later than this, and larger numbers would overflow the timer. */
const MAX_DEBOUNCE_MS = 60_000;

/** Changes for one reader: merged by path, bounded, and reporting an overflow when the limit is exceeded. */
export class ChangeQueue {
  readonly #debounceMs: number;
  #pending = new Map<string, FileChange['kind']>();
  #overflow = false;
  #closed = false;
  #wake: (() => void) | null = null;

  constructor(debounceMs: number) {
    this.#debounceMs = Math.min(debounceMs, MAX_DEBOUNCE_MS);
  }

  add(path: string, kind: FileChange['kind']): void {
    if (this.#closed) return;
    // Re-inserting moves the path to the end, so that a batch lists the latest change last.
    this.#pending.delete(path);
    this.#pending.set(path, kind);
    if (this.#pending.size > MAX_PENDING_CHANGES) this.overflow();
    else this.#wakeReader();
  }

  /** Replaces the pending list by an overflow. */
  overflow(): void {
    if (this.#closed) return;
    this.#pending.clear();
    this.#overflow = true;
    this.#wakeReader();
  }

  close(): void {
    this.#closed = true;
    this.#wakeReader();
  }

  /** Yields batches until the queue is closed; whatever is pending then is dropped. */
  async *batches(): AsyncGenerator<FileChanges> {
    while (!this.#closed) {
      if (this.#pending.size === 0 && !this.#overflow) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      if (this.#debounceMs > 0) await this.#delay();
      if (!this.#closed) yield this.#take();
    }
  }

  #take(): FileChanges {
    const changes = [...this.#pending].map(([path, kind]) => ({ path, kind }));
    const overflow = this.#overflow;
    this.#pending = new Map();
    this.#overflow = false;
    return { changes, overflow };
  }

  /** Ends early if the queue is closed. */
  async #delay(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#debounceMs);
      this.#wake = () => {
        if (!this.#closed) return;
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }

  #wakeReader(): void {
    const wake = this.#wake;
    if (this.#debounceMs === 0) this.#wake = null;
    wake?.();
  }
}
