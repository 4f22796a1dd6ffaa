/** Where a child's input goes: a pipe, a terminal, or nowhere. */
export interface ChildInput {
  readonly queuedBytes: number;
  readonly open: boolean;
  /** The id names the write to a server that comes after us. */
  write(bytes: Uint8Array, id?: string): void;
  /** Takes effect after what is queued. */
  close(): void;
  /** Immediate: the child is gone or about to be. */
  destroy(): void;
  onceWritable(limit: number): Promise<void>;
}

/** Callers waiting for a queue to shrink. */
export class DrainWaiters {
  readonly #waiting = new Set<{ limit: number; resolve: () => void }>();

  wait(limit: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.add({ limit, resolve }));
  }

  /** Wakes the callers whose limit is met. */
  shrunkTo(queuedBytes: number): void {
    for (const waiter of this.#waiting) {
      if (queuedBytes > waiter.limit) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }
}

/** Stdin is /dev/null. */
export const noInput: ChildInput = {
  queuedBytes: 0,
  open: false,
  write: () => {},
  close: () => {},
  destroy: () => {},
  onceWritable: () => Promise.resolve(),
};
