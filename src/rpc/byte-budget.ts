/** What messages of all connections may take up together: requests under way, and answers and output nobody has read yet. */
export const SERVER_BYTES = 256 * 1024 * 1024;
/** What each connection may go on with when that is used up, so that those who read are served all the same. */
export const SHARE_BYTES = 1024 * 1024;

/** The bytes of the messages that all connections of a server have in memory. */
export class ByteBudget {
  readonly #limit: number;
  readonly #listeners = new Set<() => void>();
  #used = 0;
  #wasTight = false;

  constructor(limit = SERVER_BYTES) {
    this.#limit = limit;
  }

  /** Nobody should use more than his share. Whoever asks is told when that is over. */
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

  /** Calls `listener` each time there is room again. Returns how to stop that. */
  onRoom(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
