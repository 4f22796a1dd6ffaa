import type { ByteBudget } from './byte-budget.js';

/** Requests being answered at one time. Past it the channel is not read until some are done. */
const MAX_REQUESTS = 4096;
/** What those requests may take up: one of the largest, or many small ones. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** How many requests of one connection wait for their answer, and what they take up. */
export class RequestsUnderWay {
  readonly #budget: ByteBudget;
  readonly #changed: () => void;
  #count = 0;
  #bytes = 0;

  /** `changed` is called whenever a request begins or ends. */
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

  /** A request that was read. It counts from `begin` to `finish`. */
  add(bytes: number): RequestUnderWay {
    let hasBegun = false;
    let isSetAside = false;
    return {
      begin: () => {
        hasBegun = true;
        this.#count += 1;
        if (!isSetAside) this.#bytes += bytes;
        this.#budget.add(bytes);
        this.#changed();
      },
      setAside: () => {
        if (isSetAside) return;
        isSetAside = true;
        if (hasBegun) this.#bytes -= bytes;
      },
      finish: () => {
        this.#count -= 1;
        if (!isSetAside) this.#bytes -= bytes;
        this.#budget.remove(bytes);
        this.#changed();
      },
    };
  }
}

export interface RequestUnderWay {
  begin(): void;
  /** What the request brought is kept and bounded elsewhere: it no longer keeps others from being read. */
  setAside(): void;
  finish(): void;
}
