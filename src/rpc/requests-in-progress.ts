import type { ByteBudget } from './byte-budget.js';

/** Requests in progress at a time. Above this, the channel is not read until some complete. */
const MAX_REQUESTS = 4096;
/** Memory those requests may use: one of the largest, or many small ones. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** The longest request that is kept in its original form. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Counts the requests of one connection that are in progress, and their bytes. */
export class RequestsInProgress {
  readonly #budget: ByteBudget;
  readonly #changed: () => void;
  #count = 0;
  #unrepeatable = 0;
  /** Null for those too long to be kept. */
  readonly #repeatable = new Map<object, string | Uint8Array | null>();
  #bytes = 0;

  /** `changed` is called whenever a request begins or finishes. */
  constructor(budget: ByteBudget, changed: () => void) {
    this.#budget = budget;
    this.#changed = changed;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get full(): boolean {
    return this.#count >= MAX_REQUESTS || this.#bytes >= MAX_REQUEST_BYTES;
  }

  /** Those that could be repeated, in the order they came; null if one of them was too long to be kept. */
  get repeatable(): (string | Uint8Array)[] | null {
    const messages = [...this.#repeatable.values()];
    return messages.includes(null) ? null : messages.filter((message) => message !== null);
  }

  /** How many of them must be answered, because the other side could not repeat them. */
  get unrepeatable(): number {
    return this.#unrepeatable;
  }

  /** Registers a received request. It counts from `begin` to `finish`. */
  add(message: string | Uint8Array, { isRepeatable }: { isRepeatable: boolean }): RequestInProgress {
    const bytes = message.length;
    const kept = bytes <= MAX_KEPT_BYTES ? message : null;
    const key = {};
    let hasBegun = false;
    let bytesReleased = false;
    return {
      begin: () => {
        hasBegun = true;
        this.#count += 1;
        if (isRepeatable) this.#repeatable.set(key, kept);
        else this.#unrepeatable += 1;
        if (!bytesReleased) this.#bytes += bytes;
        this.#budget.add(bytes);
        this.#changed();
      },
      releaseBytes: () => {
        if (bytesReleased) return;
        bytesReleased = true;
        if (hasBegun) this.#bytes -= bytes;
      },
      finish: () => {
        this.#count -= 1;
        if (!this.#repeatable.delete(key)) this.#unrepeatable -= 1;
        if (!bytesReleased) this.#bytes -= bytes;
        this.#budget.remove(bytes);
        this.#changed();
      },
    };
  }
}

export interface RequestInProgress {
  begin(): void;
  /** The parameters are stored and bounded elsewhere, so they no longer keep other requests from being read. */
  releaseBytes(): void;
  finish(): void;
}
