/** A program with a queue of input. */
export interface InputQueue {
  readonly processId: string;
  /** Queued input that the program has not read. */
  readonly queuedInputBytes: number;
  /** Calls back when the program is gone, and its queue with it. Returns an unsubscribe function. */
  onInputGone(listener: () => void): () => void;
}

/** Queued input every program may have, whatever the others have: as much as a pipe. */
export const ALWAYS_BYTES = 64 * 1024;
/** Queued input of all programs of a server together, beyond what each of them always may have. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * The input that programs of a server have not read. Kept processes count here even while no session uses them, so that
 * neither many sessions nor coming and going gets around the limits of one session.
 */
export class ServerInput {
  readonly #limit: number;
  /** Programs that had more than they always may, each with a function that stops watching for its end. */
  readonly #behind = new Map<InputQueue, () => void>();
  /** Never less than what is queued. Exact sums take time, so they are made only when this reaches the limit. */
  #atMost = 0;

  constructor(limit: number = MAX_BYTES) {
    this.#limit = limit;
  }

  hasRoom(bytes: number): boolean {
    if (this.#atMost + bytes <= this.#limit) return true;
    this.#atMost = this.#sum();
    return this.#atMost + bytes <= this.#limit;
  }

  /** A program is about to have this much more. */
  add(process: InputQueue, bytes: number): void {
    this.#atMost += bytes;
    if (this.#behind.has(process)) return;
    this.#behind.set(
      process,
      process.onInputGone(() => this.#forget(process)),
    );
  }

  #forget(process: InputQueue): void {
    this.#behind.get(process)?.();
    this.#behind.delete(process);
  }

  #sum(): number {
    let sum = 0;
    for (const process of [...this.#behind.keys()]) {
      const bytes = beyondAlways(process.queuedInputBytes);
      if (bytes === 0) this.#forget(process);
      else sum += bytes;
    }
    return sum;
  }
}

/** The part of a queue that counts. */
export function beyondAlways(queued: number): number {
  return Math.max(0, queued - ALWAYS_BYTES);
}
