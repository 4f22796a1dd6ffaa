/** A message on its way, with what was known when it left. */
export interface Departure {
  readonly bytes: number;
  readonly at: number;
  /** Bytes that had arrived until then, and since when. */
  readonly delivered: number;
  readonly deliveredAt: number;
}

/** What took this much longer than the fastest has waited on its way: more was sent than the line takes. */
const WAITED_FACTOR = 1.5;
const WAITED_MS = 5;
/** What was seen longer ago says nothing about the line any more. */
const MEMORY_MS = 5_000;

/**
 * How fast the line of one connection is, in bytes as they travel. Known only once more was sent than it takes: what a program
 * writes slowly arrives slowly on any line.
 */
export class LineSpeed {
  #delivered = 0;
  #deliveredAt = 0;
  #inFlight = 0;
  #fastestMs = Number.POSITIVE_INFINITY;
  #seen: { bytesPerMs: number; at: number } | undefined;

  /** Undefined while the line is not known to be what limits the rate. */
  get bytesPerMs(): number | undefined {
    if (this.#seen && performance.now() - this.#seen.at > MEMORY_MS) this.#seen = undefined;
    return this.#seen?.bytesPerMs;
  }

  departed(bytes: number): Departure {
    const at = performance.now();
    // The rate is that of a line at work, so a pause does not count.
    if (this.#inFlight === 0) this.#deliveredAt = at;
    this.#inFlight += bytes;
    return { bytes, at, delivered: this.#delivered, deliveredAt: this.#deliveredAt };
  }

  /** These have been consumed, in the order they left. */
  arrived(departures: readonly Departure[]): void {
    const last = departures.at(-1);
    if (!last) return;
    const at = performance.now();
    for (const { bytes } of departures) this.#delivered += bytes;
    this.lost(departures);
    this.#deliveredAt = at;
    const took = at - last.at;
    this.#fastestMs = Math.min(this.#fastestMs, took);
    if (this.#seen) this.#seen = { ...this.#seen, at };
    if (took < this.#fastestMs * WAITED_FACTOR + WAITED_MS) return;
    this.#seen = {
      bytesPerMs: (this.#delivered - last.delivered) / Math.max(at - last.deliveredAt, 0.01),
      at,
    };
  }

  /** Nobody will tell of these any more. */
  lost(departures: readonly Departure[]): void {
    for (const { bytes } of departures) this.#inFlight -= bytes;
  }
}
