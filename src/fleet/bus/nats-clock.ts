/** A measurement older than this is not narrowed any more but replaced: clocks drift apart by some milliseconds per hour. */
const FRESH_MS = 600_000;

/**
 * The time by the clock of the NATS servers, which is the same for all: the clocks of machines and clients need not agree. How
 * far it is ahead of our own steady clock follows from the timestamps of NATS and when they reached us.
 */
export class NatsClock {
  /** Between these, in milliseconds. */
  #leastAhead = Number.NEGATIVE_INFINITY;
  #mostAhead = Number.POSITIVE_INFINITY;
  #measuredAt = Number.NEGATIVE_INFINITY;
  readonly #steady: () => number;

  /** `steady`: milliseconds since some moment, by a clock that cannot be set. */
  constructor(steady: () => number = () => performance.now()) {
    this.#steady = steady;
  }

  /** Milliseconds since 1970; undefined before NATS has stamped anything for us. */
  now(): number | undefined {
    if (!Number.isFinite(this.#leastAhead)) return undefined;
    const ahead = Number.isFinite(this.#mostAhead)
      ? (this.#leastAhead + this.#mostAhead) / 2
      : this.#leastAhead;
    return Math.round(this.#steady() + ahead);
  }

  /** For a call to NATS. Call the returned function with the timestamp in the answer. */
  measure(): (timeMs: number) => void {
    const askedAt = this.#steady();
    return (timeMs) => {
      if (!Number.isFinite(timeMs)) return;
      const isStale = this.#steady() - this.#measuredAt > FRESH_MS;
      this.#narrow({ least: timeMs - this.#steady(), most: timeMs - askedAt }, isStale);
      this.#measuredAt = this.#steady();
    };
  }

  /** NATS has stamped something at that time, now or long ago. */
  heard(timeMs: number): void {
    const least = timeMs - this.#steady();
    if (least > this.#leastAhead) this.#narrow({ least, most: Number.POSITIVE_INFINITY }, false);
  }

  /** If two contradict each other, the later one counts: a clock was set, or this machine was asleep. */
  #narrow({ least, most }: { least: number; most: number }, isNew: boolean): void {
    const contradicts = least > this.#mostAhead || most < this.#leastAhead;
    this.#leastAhead = isNew || contradicts ? least : Math.max(least, this.#leastAhead);
    this.#mostAhead = isNew || contradicts ? most : Math.min(most, this.#mostAhead);
  }
}
