/** Shares the event loop: in each of its turns only one of those who wait continues, in the order they came. */
export class TurnQueue {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a turn of the event loop that nobody else in this queue gets. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#wakeOne);
    });
  }

  readonly #wakeOne = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#wakeOne);
  };
}
