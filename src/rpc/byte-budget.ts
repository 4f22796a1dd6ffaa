/** Memory for the messages of all connections together: requests in progress, and answers and output not yet read. */
const SERVER_BYTES = 256 * 1024 * 1024;
/** What each connection may still use when the budget is exhausted, so that clients that read are always served. */
export const SHARE_BYTES = 1024 * 1024;

/** Counts the message bytes that all connections of a server hold in memory. */
export class ByteBudget {
  readonly #limit: number;
  readonly #listeners = new Set<() => void>();
  #used = 0;
  #wasTight = false;

  constructor(limit = SERVER_BYTES) {
    this.#limit = limit;
  }

  /**
   * True when no connection should use more than its share. After it was true, `onRoom` listeners are called once it no
   * longer is.
   */
  get tight(): boolean {
    const tight = this.#used >= this.#limit;
    if (tight) this.#wasTight = true;
    return tight;
  }

  add(bytes: number): void {
    this.#used += bytes;
  }

  remove(bytes: number): void {
    this.#used -= bytes;
    if (!this.#wasTight || this.#used >= this.#limit) return;
    this.#wasTight = false;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls `listener` whenever there is room again. Returns an unsubscribe function. */
  onRoom(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
