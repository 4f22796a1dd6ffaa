import { Budget } from './budget.js';

const MEBIBYTE = 1024 * 1024;
/** The most content in flight before the line has been measured. A short line holds less than this. */
export const FIRST_BYTES = 16 * MEBIBYTE;
/** The most content one copy keeps in memory. It is less than a connection may hold, which leaves room for other messages. */
export const MOST_BYTES = 28 * MEBIBYTE;

/** In flight is this multiple of what the line was measured to hold, so the budget doubles while it limits the rate. */
const HEADROOM = 2;

/** When a request was sent, and how much had arrived by then. */
export interface Asked {
  readonly atMs: number;
  readonly arrived: number;
}

/**
 * Bounds the content of one copy that is in flight, over all its files. The bound follows the capacity of the line: the rate
 * at which content arrives times the shortest time any of it took.
 */
export class LineBudget {
  readonly #budget = new Budget(() => this.#bytes);
  #bytes = FIRST_BYTES;
  #arrived = 0;
  #shortestMs = Number.POSITIVE_INFINITY;

  /** Call when sending a request ahead of its turn. */
  ask(): Asked {
    return { atMs: performance.now(), arrived: this.#arrived };
  }

  /** `asked`: when the content was requested, if that was before this call. Timing it from now would make the line look faster. */
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
    // It never shrinks, because a temporary delay such as a slow disk says nothing about the line.
    this.#bytes = Math.max(this.#bytes, Math.min(HEADROOM * held, MOST_BYTES));
  }
}
