/**
 * A block of a file leaves a message and texts of a megabyte each behind. The engine counts those only by the hundred
 * megabytes, and then goes over everything it has; a look at what is new after this much takes some 0.3 ms and finds
 * nearly all of it.
 */
const COLLECT_AFTER_BYTES = 8 * 1024 * 1024;

/** What blocks and texts in use may add up to; beyond it some of them are no longer in use. */
const MAX_EXTERNAL_BYTES = 24 * 1024 * 1024;

/**
 * Collects garbage: what is new with options, whatever they say in older engines; everything without. Node's own `gc`,
 * which only a flag offers: whether the process should have it is for the program to decide, not for a library in it.
 */
export type CollectGarbage = (options?: { type: 'minor' }) => void;

/** Has large garbage collected early, where that is possible. */
export class BulkGarbage {
  readonly #collect: CollectGarbage | undefined;
  #bytes = 0;

  constructor(collect: CollectGarbage | undefined) {
    this.#collect = collect;
  }

  /** Tells that about this many bytes of messages and texts have just become garbage. */
  note(bytes: number): void {
    if (!this.#collect) return;
    this.#bytes += bytes;
    if (this.#bytes < COLLECT_AFTER_BYTES) return;
    this.#bytes = 0;
    this.#collect({ type: 'minor' });
    // Texts that were in use during two such looks count as old and are left out by further ones.
    if (process.memoryUsage().external > MAX_EXTERNAL_BYTES) this.#collect();
  }
}
