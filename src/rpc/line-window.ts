import type { LineAccount } from './line-account.js';

/**
 * Largest window of one process. Our client treats 32 MiB of unread output as a server ignoring flow control, so this
 * stays below it with room for the chunk that fills the window.
 */
export const MAX_WINDOW_BYTES = 28 * 1024 * 1024;

/** A window is this many times the measured capacity of the line, so it doubles while it is what limits the rate. */
const HEADROOM = 2;
/** A rate measured longer ago than this says nothing about the reader any more. */
const RATE_MEMORY_MS = 2_000;

/** Overrides for windows that do not carry output. */
export interface LineWindowOptions {
  readonly maxBytes?: number;
  /**
   * How long data may queue on the line before small messages behind it are delayed too much. Default: the round-trip
   * time.
   */
  readonly queueMs?: number;
}

/** The state when a message left. */
interface Departure {
  readonly seq: number;
  readonly at: number;
  /** Bytes acknowledged by then, and since when. */
  readonly delivered: number;
  readonly deliveredAt: number;
  /** Bytes sent up to and including this message. */
  readonly total: number;
}

/** The highest recent value. */
class RecentPeak {
  #rows: { value: number; at: number }[] = [];

  add(value: number, at: number): number {
    // An older value that is no higher can never be the peak again.
    this.#rows = this.#rows.filter((row) => row.at > at - RATE_MEMORY_MS && row.value > value);
    this.#rows.push({ value, at });
    return this.#rows[0]?.value ?? value;
  }
}

/**
 * How much input or output of one process may be in flight, measured from acknowledgements: their rate times the
 * shortest round trip, which is the capacity of the line. A slow reader lowers the rate and gets no more; a distant one
 * gets a window that keeps its line busy.
 */
export class LineWindow {
  readonly #initial: number;
  readonly #account: LineAccount;
  readonly #maxBytes: number;
  readonly #queueMs: number | undefined;
  readonly #rate = new RecentPeak();
  /** The shortest ever: later ones include time spent waiting for a slow reader. A new line means a new connection. */
  #roundTripMs = Number.POSITIVE_INFINITY;
  #departures: Departure[] = [];
  #sent = 0;
  #delivered = 0;
  #deliveredAt = 0;
  #extra = 0;
  /** Borrowed from the account: at least what the window has in addition, and what is in flight from when it had more. */
  #loan = 0;

  constructor(initial: number, account: LineAccount, options: LineWindowOptions = {}) {
    this.#initial = initial;
    this.#account = account;
    this.#maxBytes = options.maxBytes ?? MAX_WINDOW_BYTES;
    this.#queueMs = options.queueMs;
  }

  get bytes(): number {
    return this.#initial + this.#extra;
  }

  /** Bytes sent and not acknowledged. */
  get inFlight(): number {
    return this.#sent - this.#delivered;
  }

  sent({ seq, bytes, at }: { seq: number; bytes: number; at: number }): void {
    // Measures a busy line only, so idle time does not count.
    if (this.#sent === this.#delivered) this.#deliveredAt = at;
    this.#sent += bytes;
    this.#departures.push({
      seq,
      at,
      delivered: this.#delivered,
      deliveredAt: this.#deliveredAt,
      total: this.#sent,
    });
  }

  /** The reader has consumed everything up to `seq`. `unread`: what there is beyond it, sent or not. */
  acknowledged(seq: number, at: number, unread = 0): void {
    const last = this.#takeUpTo(seq);
    if (last === undefined) return;
    this.#delivered = last.total;
    this.#deliveredAt = at;
    const took = at - last.at;
    this.#roundTripMs = Math.min(this.#roundTripMs, took);
    const rate = this.#rate.add((last.total - last.delivered) / Math.max(at - last.deliveredAt, 0.01), at);
    const worth = Math.min(Math.round(rate * this.#worthMs(took)), this.#maxBytes);
    const wanted = Math.max(0, worth - this.#initial);
    const inUse = Math.max(0, Math.max(unread, this.#sent - this.#delivered) - this.#initial);
    this.#loan = this.#account.exchange(this.#loan, { wanted, inUse });
    this.#extra = Math.min(wanted, this.#loan);
  }

  /** Returns what it borrowed: nobody is listening for now, or the process has ended. */
  reset(): void {
    this.#extra = 0;
    this.#loan = this.#account.exchange(this.#loan, { wanted: 0, inUse: 0 });
    this.#departures = [];
    this.#delivered = this.#sent;
  }

  /** How many milliseconds' worth of data should be in flight after a round trip of `took`. */
  #worthMs(took: number): number {
    const doubled = HEADROOM * this.#roundTripMs;
    if (this.#queueMs === undefined) return doubled;
    const waited = took - this.#roundTripMs;
    const withQueue = this.#roundTripMs + this.#queueMs;
    // While nothing queues on the line, its capacity may be far larger.
    return waited < this.#queueMs / 2 ? Math.max(doubled, withQueue) : withQueue;
  }

  #takeUpTo(seq: number): Departure | undefined {
    let count = 0;
    while (count < this.#departures.length && (this.#departures[count]?.seq ?? 0) <= seq) count += 1;
    return this.#departures.splice(0, count).at(-1);
  }
}
