/** Shares the event loop: in each turn of the loop only one waiter continues, in order of arrival. */
export class TurnQueue {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a turn of the event loop that no other waiter of this queue gets. */
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
