import { TurnQueue } from './turn-queue.js';

/** How long work may hold the event loop before others get a turn. */
const SLICE_MS = 5;

const longWork = new TurnQueue();

/**
 * Yields to the event loop from time to time, however long the work takes. However much such work there is, each turn of the loop
 * continues only one piece of it.
 */
export class TimeSlice {
  readonly #sliceMs: number;
  #since = performance.now();

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  get isOver(): boolean {
    return performance.now() - this.#since >= this.#sliceMs;
  }

  /** Await it often: it costs next to nothing until the time is up. */
  yieldIfOver(): Promise<void> | undefined {
    return this.isOver ? this.yieldNow() : undefined;
  }

  async yieldNow(): Promise<void> {
    await longWork.next();
    this.#since = performance.now();
  }
}
