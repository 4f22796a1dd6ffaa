import { isExecError } from '../protocol/errors.js';

/** After this many failures in a row, with no success anywhere in the copy, we give up. */
const MAX_SETBACKS = 5;

/**
 * Repeats requests that a lost connection left unanswered; they must be safe to repeat. The environment itself waits for the
 * connection to come back.
 */
export class Persistence {
  readonly #limit: number;
  #successes = 0;
  #cuts = 0;

  constructor({ setbacks = MAX_SETBACKS }: { setbacks?: number } = {}) {
    this.#limit = setbacks;
  }

  /** Whether any request was repeated, so that requests may have taken effect out of order. */
  get wasCut(): boolean {
    return this.#cuts > 0;
  }

  /** Call when a request took effect later than its turn. */
  disturb(): void {
    this.#cuts += 1;
  }

  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    for (let setbacks = 0, seen = this.#successes; ; setbacks += 1) {
      try {
        const value = await work();
        this.#successes += 1;
        return value;
      } catch (error) {
        if (seen !== this.#successes) setbacks = 0;
        seen = this.#successes;
        if (!isExecError(error, 'connectionClosed') || setbacks >= this.#limit) throw error;
        this.#cuts += 1;
      }
    }
  }
}
