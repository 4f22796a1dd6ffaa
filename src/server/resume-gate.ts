/**
 * Holds requests back until a resume is answered. Requests sent along with it may have long answers, and the client is back
 * as soon as it has this one.
 */
export class ResumeGate {
  #answered: Promise<void> | undefined;

  /** Closes the gate until the answer has left. */
  holdUntil(answer: Promise<unknown>): void {
    this.#answered = new Promise<void>((resolve) => {
      const open = (): void => {
        this.#answered = undefined;
        resolve();
      };
      // The answer leaves in the turn of the event loop in which it is known.
      const settled = (): void => void setImmediate(open);
      answer.then(settled, settled);
    });
  }

  get isOpen(): boolean {
    return this.#answered === undefined;
  }

  /** Runs now, or as soon as the gate is open. */
  pass(run: () => unknown): unknown {
    return this.#answered ? this.#answered.then(run) : run();
  }
}
