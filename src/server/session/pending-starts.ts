/** A start that takes a while. */
interface PendingStart {
  readonly outcome: Promise<unknown>;
  readonly isKept: boolean;
}

/** The starts of a session that have not settled yet. Later requests for their processes wait for them. */
export class PendingStarts {
  readonly #pending = new Map<string, PendingStart>();

  /** Runs a start. Until it settles, `get` returns it. */
  async track<Result>(
    { processId, isKept }: { processId: string; isKept: boolean },
    start: () => Promise<Result>,
  ): Promise<Result> {
    const outcome = start();
    const pending = { outcome, isKept };
    this.#pending.set(processId, pending);
    try {
      return await outcome;
    } finally {
      if (this.#pending.get(processId) === pending) this.#pending.delete(processId);
    }
  }

  get(processId: string): PendingStart | undefined {
    return this.#pending.get(processId);
  }
}
