import { isExecError } from '../protocol/errors.js';

/** What fails this often in a row while nothing else arrives is given up. */
const MAX_SETBACKS = 5;

/**
 * Does again what a lost connection left unanswered. Only for what can be done twice. Waiting for the connection is up to
 * the machine behind it, and so is giving up.
 */
export class Persistence {
  readonly #limit: number;
  #successes = 0;
  #cuts = 0;

  constructor({ setbacks = MAX_SETBACKS }: { setbacks?: number } = {}) {
    this.#limit = setbacks;
  }

  /** Whether anything had to be done again, so that not everything happened in the order it was asked for. */
  get wasCut(): boolean {
    return this.#cuts > 0;
  }

  /** Something was done later than it was asked for. */
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
