import { setImmediate } from 'node:timers/promises';

/** How long work may hold the event loop before others get a turn. */
const SLICE_MS = 5;

/** Yields to the event loop from time to time, however long the work takes. */
export class TimeSlice {
  #since = performance.now();

  /** Await it often: it costs next to nothing until the time is up. */
  yieldIfOver(): Promise<void> | undefined {
    if (performance.now() - this.#since < SLICE_MS) return undefined;
    return this.#yield();
  }

  async #yield(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
