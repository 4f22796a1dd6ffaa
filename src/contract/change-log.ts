import type { FileChange, FileChanges } from './file-watch.js';

/** Changed paths kept for readers that are away; beyond this they become an overflow. About 1 MB at most. */
export const MAX_PENDING_CHANGES = 4096;

/** Nobody wants to learn of changes later than this, and larger numbers would overflow the timer. */
const MAX_DEBOUNCE_MS = 60_000;

/**
 * Changes for any number of readers: merged by path and bounded. A change costs the same however many readers there
 * are, and those that are equally far get the same batch.
 */
export class ChangeLog {
  /** In the order of their latest change, with its number. */
  readonly #changes = new Map<string, { readonly kind: FileChange['kind']; readonly number: number }>();
  readonly #waiting = new Set<() => void>();
  /** Where each reader is: the number of the last change it knows. */
  readonly #readers = new Map<ChangeReader, number>();
  /** Readers that have not taken everything. */
  #behind = 0;
  #last = 0;
  /** A reader whose position is below this number has missed something. */
  #lost = 0;
  /** The same, if there were too many changes. */
  #evicted = 0;
  #recent: { readonly after: number; readonly last: number; readonly batch: FileChanges } | null = null;

  add(path: string, kind: FileChange['kind']): void {
    if (this.#readers.size === 0) return;
    this.#last += 1;
    this.#behind = this.#readers.size;
    // Re-inserting moves the path to the end, so that a batch lists the latest change last.
    this.#changes.delete(path);
    this.#changes.set(path, { kind, number: this.#last });
    if (this.#changes.size > MAX_PENDING_CHANGES) this.#evict();
    this.#wake();
  }

  /** Replaces what is pending by an overflow. */
  overflow(): void {
    this.#last += 1;
    this.#behind = this.#readers.size;
    this.#lost = this.#last;
    this.#changes.clear();
    this.#wake();
  }

  /** Reads what comes from now on. */
  open(debounceMs: number): ChangeReader {
    const reader = new ChangeReader(this, Math.min(debounceMs, MAX_DEBOUNCE_MS));
    this.#readers.set(reader, this.#last);
    return reader;
  }

  /** @internal */
  forget(reader: ChangeReader): void {
    const after = this.#readers.get(reader);
    this.#readers.delete(reader);
    if (after !== undefined && after !== this.#last) this.#caughtUp();
  }

  /** @internal Null if there is nothing new. */
  take(reader: ChangeReader): FileChanges | null {
    const after = this.#readers.get(reader);
    if (after === undefined || after === this.#last) return null;
    this.#readers.set(reader, this.#last);
    if (this.#recent?.after !== after || this.#recent.last !== this.#last)
      this.#recent = { after, last: this.#last, batch: this.#batchAfter(after) };
    const { batch } = this.#recent;
    this.#caughtUp();
    return batch;
  }

  /** @internal Calls back once something is new. */
  whenNew(reader: ChangeReader, wake: () => void): void {
    if (this.#readers.get(reader) !== this.#last) wake();
    else this.#waiting.add(wake);
  }

  #batchAfter(after: number): FileChanges {
    const changes: FileChange[] = [];
    if (after >= this.#evicted)
      for (const [path, { kind, number }] of this.#changes) if (number > after) changes.push({ path, kind });
    return { changes, overflow: after < this.#lost };
  }

  #evict(): void {
    for (const [path, { number }] of this.#changes) {
      this.#changes.delete(path);
      this.#evicted = number;
      this.#lost = Math.max(this.#lost, number);
      return;
    }
  }

  /** What every reader knows is forgotten. */
  #caughtUp(): void {
    this.#behind -= 1;
    if (this.#behind > 0) return;
    this.#changes.clear();
    this.#recent = null;
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

/** One reader of a log, at its own pace. */
export class ChangeReader {
  readonly #log: ChangeLog;
  readonly #debounceMs: number;
  #closed = false;
  #stopWaiting: () => void = () => undefined;

  constructor(log: ChangeLog, debounceMs: number) {
    this.#log = log;
    this.#debounceMs = debounceMs;
  }

  /** Yields batches until the reader is closed; whatever is pending then is dropped. */
  async *batches(): AsyncGenerator<FileChanges> {
    while (!this.#closed) {
      await this.#wait((resolve) => this.#log.whenNew(this, resolve));
      if (this.#debounceMs > 0) await this.#delay();
      const batch = this.#closed ? null : this.#log.take(this);
      if (batch !== null) yield batch;
    }
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    this.#log.forget(this);
    this.#stopWaiting();
  }

  async #delay(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await this.#wait((resolve) => (timer = setTimeout(resolve, this.#debounceMs)));
    clearTimeout(timer);
  }

  /** Ends early if the reader is closed. */
  async #wait(begin: (resolve: () => void) => void): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#stopWaiting = resolve;
      begin(resolve);
    });
  }
}
