import { Budget } from './budget.js';

const MEBIBYTE = 1024 * 1024;
/** What may be on its way before anything is known about the line: a nearby one holds less. */
export const FIRST_BYTES = 16 * MEBIBYTE;
/** What one copy has in memory at most: less than a connection holds, so that other messages still find room. */
export const MOST_BYTES = 28 * MEBIBYTE;

/** What is under way is this many times what the line was seen to hold: so it doubles while that is what limits the rate. */
const HEADROOM = 2;

/** The moment something was asked for, and how much had arrived by then. */
export interface Asked {
  readonly atMs: number;
  readonly arrived: number;
}

/**
 * What the content of all files of one copy may take up on its way. It follows what the line holds: the rate at which
 * content arrives, times the shortest time any of it took.
 */
export class LineBudget {
  readonly #budget = new Budget(() => this.#bytes);
  #bytes = FIRST_BYTES;
  #arrived = 0;
  #shortestMs = Number.POSITIVE_INFINITY;

  /** Call when something is asked for ahead of its turn. */
  ask(): Asked {
    return { atMs: performance.now(), arrived: this.#arrived };
  }

  /** `asked` where the content was on its way before: what it seems to take from now on is not what the line takes. */
  async spend<Value>(bytes: number, work: () => Promise<Value>, asked?: Asked): Promise<Value> {
    return await this.#budget.spend(bytes, async () => {
      const { atMs, arrived } = asked ?? this.ask();
      const value = await work();
      this.#arrived += bytes;
      this.#learn(this.#arrived - arrived, performance.now() - atMs);
      return value;
    });
  }

  #learn(arrived: number, ms: number): void {
    this.#shortestMs = Math.min(this.#shortestMs, Math.max(ms, 0.1));
    const held = (arrived / Math.max(ms, 0.1)) * this.#shortestMs;
    // Whatever made it smaller once, such as a slow disk, need not last; more than the most is never in memory.
    this.#bytes = Math.max(this.#bytes, Math.min(HEADROOM * held, MOST_BYTES));
  }
}
