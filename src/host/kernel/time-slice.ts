/** How long work may hold the event loop before others get a turn. */
const SLICE_MS = 5;

const waiting: (() => void)[] = [];

/**
 * Yields to the event loop from time to time, however long the work takes. However much such work there is, one piece of it
 * goes on in each turn of the loop.
 */
export class TimeSlice {
  #since = performance.now();

  /** Await it often: it costs next to nothing until the time is up. */
  yieldIfOver(): Promise<void> | undefined {
    if (performance.now() - this.#since < SLICE_MS) return undefined;
    return this.#yield();
  }

  async #yield(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(wakeOne);
    });
    this.#since = performance.now();
  }
}

function wakeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(wakeOne);
}
