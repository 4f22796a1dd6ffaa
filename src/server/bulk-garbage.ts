/**
 * Each file block leaves behind a message and strings of a megabyte each. The engine notices those only after hundreds
 * of megabytes and then runs a full collection. A minor collection after this much takes about 0.3 ms and frees nearly
 * all of it.
 */
const COLLECT_AFTER_BYTES = 8 * 1024 * 1024;

/** The most that blocks and strings in use add up to; anything above is garbage. */
const MAX_EXTERNAL_BYTES = 24 * 1024 * 1024;

/**
 * Collects garbage: a minor collection with options (older engines ignore them), a full one without. This is Node's
 * `gc`, which requires a flag. Whether a process sets that flag is up to the program, not to a library.
 */
export type CollectGarbage = (options?: { type: 'minor' }) => void;

/** Triggers early collection of large garbage, where possible. */
export class BulkGarbage {
  readonly #collect: CollectGarbage | undefined;
  #bytes = 0;

  constructor(collect: CollectGarbage | undefined) {
    this.#collect = collect;
  }

  /** Records that about this many bytes of messages and strings have just become garbage. */
  note(bytes: number): void {
    // Strings that survived two minor collections count as old and are skipped by further ones.
    if (this.noteBuffers(bytes) && process.memoryUsage().external > MAX_EXTERNAL_BYTES) this.#collect?.();
  }

  /** The same for buffers, which may be in flight and then are no garbage yet. Returns whether garbage was collected. */
  noteBuffers(bytes: number): boolean {
    this.#bytes += bytes;
    if (!this.#collect || this.#bytes < COLLECT_AFTER_BYTES) return false;
    this.#bytes = 0;
    this.#collect({ type: 'minor' });
    return true;
  }
}
