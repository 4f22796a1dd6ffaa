const NANOSECONDS_PER_MILLISECOND = 1e6;

/** How far the wall clock was ahead of the monotonic one, which all servers of a keeper share. */
export interface ClockRecord {
  readonly aheadMs: number;
}

/**
 * The clock of a journal: the wall clock as it was when the first server began, and counted on since. The wall clock may be set
 * before the next server reads the journal, and that must not make anything end too early or too late.
 */
export class SteadyClock {
  readonly record: ClockRecord;

  constructor(record: ClockRecord | undefined) {
    this.record = record ?? { aheadMs: Math.round(Date.now() - monotonicMs()) };
  }

  /** What the journal says for a moment of the wall clock. */
  fromWallClock(timeMs: number): number {
    return Math.round(timeMs - Date.now() + this.#now());
  }

  /** The reverse. */
  toWallClock(timeMs: number): number {
    return Math.round(timeMs - this.#now() + Date.now());
  }

  #now(): number {
    return monotonicMs() + this.record.aheadMs;
  }
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / NANOSECONDS_PER_MILLISECOND;
}
