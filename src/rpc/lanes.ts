import { BytesResult } from './bytes-result.js';

/**
 * Runs tasks of one key in the order they came, and tasks of different keys side by side.
 * An idle lane runs its task at once, in the same turn.
 */
export class Lanes {
  readonly #tails = new Map<string, Promise<void>>();

  run<Value>(key: string | undefined, task: () => Value | Promise<Value>): Value | Promise<Value> {
    if (key === undefined) return task();
    const tail = this.#tails.get(key);
    const outcome = tail === undefined ? task() : tail.then(task);
    if (outcome instanceof Promise) this.#occupy(key, outcome);
    return outcome;
  }

  #occupy(key: string, outcome: Promise<unknown>): void {
    const settled = outcome.then(
      (value) => (value instanceof BytesResult ? value.done : undefined),
      () => undefined,
    );
    const tail = settled.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
  }
}
