import { setImmediate } from 'node:timers/promises';

/** How long work may hold the event loop before others get their turn. */
const SLICE_MS = 5;

/** Lets everybody else have a turn from time to time, however long the work takes. */
export class Breather {
  #since = performance.now();

  /** To be awaited often: it costs next to nothing until the time is up. */
  rest(): Promise<void> | undefined {
    if (performance.now() - this.#since < SLICE_MS) return undefined;
    return this.#yield();
  }

  async #yield(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
