/** What all processes of one connection may have on their way beyond their first window. A stalled reader costs no more. */
export const MAX_LINE_BYTES_IN_FLIGHT = 32 * 1024 * 1024;
/**
 * The largest window of one process. Below what our client takes for a server that does not hold back (32 MiB), with
 * room for the chunk that fills it.
 */
export const MAX_WINDOW_BYTES = 28 * 1024 * 1024;

/** A window is this many times what the line was seen to hold: so it doubles while it is what limits the rate. */
const HEADROOM = 2;
/** A rate seen longer ago than this says nothing about the reader any more. */
const RATE_MEMORY_MS = 2_000;

/** How a window is measured, where it is not as for output. */
export interface LineWindowOptions {
  readonly maxBytes?: number;
  /**
   * How long what is sent may wait on its way, so that what is small and sent behind it is not held up. Default: as long as
   * the line takes.
   */
  readonly queueMs?: number;
}

/** Shares what a connection may have on its way between its processes. */
export class FlightBudget {
  #free: number;

  constructor(bytes: number = MAX_LINE_BYTES_IN_FLIGHT) {
    this.#free = bytes;
  }

  /** Trades one share for another; returns what was granted, which is less where the budget is used up. */
  exchange(held: number, wanted: number): number {
    const granted = Math.max(0, Math.min(wanted, this.#free + held));
    this.#free += held - granted;
    return granted;
  }
}

/** What was known when a message left. */
interface Departure {
  readonly seq: number;
  readonly at: number;
  /** Bytes acknowledged until then, and since when. */
  readonly delivered: number;
  readonly deliveredAt: number;
  /** Bytes sent up to and with it. */
  readonly total: number;
}

/** The highest of recent values. */
class RecentPeak {
  #rows: { value: number; at: number }[] = [];

  add(value: number, at: number): number {
    // What is older and no higher will never be the peak again.
    this.#rows = this.#rows.filter((row) => row.at > at - RATE_MEMORY_MS && row.value > value);
    this.#rows.push({ value, at });
    return this.#rows[0]?.value ?? value;
  }
}

/**
 * How much output or input of one process may be on its way, measured from acknowledgements: the rate at which they arrive, times
 * the shortest time one took. That is what the line holds. A reader that is slow itself lowers the rate and gets no
 * more; one that is far away gets a window that keeps its line busy.
 */
export class LineWindow {
  readonly #initial: number;
  readonly #budget: FlightBudget;
  readonly #maxBytes: number;
  readonly #queueMs: number | undefined;
  readonly #rate = new RecentPeak();
  /** The shortest ever: later ones include the time output waits for a slow reader. A new line is a new connection. */
  #roundTripMs = Number.POSITIVE_INFINITY;
  #departures: Departure[] = [];
  #sent = 0;
  #delivered = 0;
  #deliveredAt = 0;
  /** What of the budget is ours. */
  #extra = 0;

  constructor(initial: number, budget: FlightBudget, options: LineWindowOptions = {}) {
    this.#initial = initial;
    this.#budget = budget;
    this.#maxBytes = options.maxBytes ?? MAX_WINDOW_BYTES;
    this.#queueMs = options.queueMs;
  }

  get bytes(): number {
    return this.#initial + this.#extra;
  }

  sent({ seq, bytes, at }: { seq: number; bytes: number; at: number }): void {
    // The rate is that of a line at work, so a pause does not count.
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

  /** The reader has consumed everything up to here. */
  acknowledged(seq: number, at: number): void {
    const last = this.#takeUpTo(seq);
    if (last === undefined) return;
    this.#delivered = last.total;
    this.#deliveredAt = at;
    const took = at - last.at;
    this.#roundTripMs = Math.min(this.#roundTripMs, took);
    const rate = this.#rate.add((last.total - last.delivered) / Math.max(at - last.deliveredAt, 0.01), at);
    const wanted = Math.min(Math.round(rate * this.#worthMs(took)), this.#maxBytes);
    this.#extra = this.#budget.exchange(this.#extra, Math.max(0, wanted - this.#initial));
  }

  /** Gives back what it has: nobody listens for now, or the process is over. */
  reset(): void {
    this.#extra = this.#budget.exchange(this.#extra, 0);
    this.#departures = [];
    this.#delivered = this.#sent;
  }

  /** How much time's worth of the rate is to be on its way, where the last one took this long. */
  #worthMs(took: number): number {
    const doubled = HEADROOM * this.#roundTripMs;
    if (this.#queueMs === undefined) return doubled;
    const waited = took - this.#roundTripMs;
    const patient = this.#roundTripMs + this.#queueMs;
    // As long as nothing waits on its way, the line may hold far more.
    return waited < this.#queueMs / 2 ? Math.max(doubled, patient) : patient;
  }

  #takeUpTo(seq: number): Departure | undefined {
    let count = 0;
    while (count < this.#departures.length && (this.#departures[count]?.seq ?? 0) <= seq) count += 1;
    return this.#departures.splice(0, count).at(-1);
  }
}
