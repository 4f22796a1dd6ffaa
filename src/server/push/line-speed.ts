/** A message in flight, with the state when it left. */
export interface Departure {
  readonly bytes: number;
  readonly at: number;
  /** Bytes delivered by then, and since when. */
  readonly delivered: number;
  readonly deliveredAt: number;
}

/** A message that took this many times the fastest round trip was queued: more was sent than the line can carry. */
const WAITED_FACTOR = 1.5;
const WAITED_MS = 5;
/** Measurements older than this say nothing about the line any more. */
const MEMORY_MS = 5_000;

/**
 * The speed of one connection's line, in bytes on the wire. Known only once more was sent than it can carry: what a
 * program writes slowly arrives slowly on any line.
 */
export class LineSpeed {
  #delivered = 0;
  #deliveredAt = 0;
  #inFlight = 0;
  #fastestMs = Number.POSITIVE_INFINITY;
  #seen: { bytesPerMs: number; at: number } | undefined;

  /** Undefined unless the line is known to be the bottleneck. */
  get bytesPerMs(): number | undefined {
    if (this.#seen && performance.now() - this.#seen.at > MEMORY_MS) this.#seen = undefined;
    return this.#seen?.bytesPerMs;
  }

  departed(bytes: number): Departure {
    const at = performance.now();
    // Measures a busy line only, so idle time does not count.
    if (this.#inFlight === 0) this.#deliveredAt = at;
    this.#inFlight += bytes;
    return { bytes, at, delivered: this.#delivered, deliveredAt: this.#deliveredAt };
  }

  /** These have been consumed, in the order they were sent. */
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

  /** These will never be acknowledged. */
  lost(departures: readonly Departure[]): void {
    for (const { bytes } of departures) this.#inFlight -= bytes;
  }
}
