import type { ByteBudget } from './byte-budget.js';

/** Requests in progress at a time. Above this, the channel is not read until some complete. */
const MAX_REQUESTS = 4096;
/** Memory those requests may use: one of the largest, or many small ones. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** Counts the requests of one connection that are in progress, and their bytes. */
export class RequestsInProgress {
  readonly #budget: ByteBudget;
  readonly #changed: () => void;
  #count = 0;
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

  /** Registers a received request. It counts from `begin` to `finish`. */
  add(bytes: number): RequestInProgress {
    let hasBegun = false;
    let bytesReleased = false;
    return {
      begin: () => {
        hasBegun = true;
        this.#count += 1;
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
