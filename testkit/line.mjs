/** @typedef {import('node:net').Socket} Socket */

/**
 * The properties of a line between two machines.
 * @typedef {object} LineOptions
 * @property {number} [roundTripMs]
 * @property {number} [bitsPerSecond]
 */

/**
 * Assigns what one side sends to a round trip, and is told what arrived.
 * @typedef {object} TripClock
 * @property {() => number} trip
 * @property {(trip: number) => void} arrived
 */

/** Bytes in flight per direction beyond the capacity of the line: the buffers of a router. */
const BUFFER_BYTES = 64 * 1024;

/**
 * One direction of one connection: delays every byte by half a round trip and limits the bandwidth. The kernel's own
 * facilities need privileges that tests do not have.
 */
export class DelayedPassage {
  #from;
  #to;
  #delayMs;
  #bytesPerMs;
  #clock;
  /** @type {{ bytes: Buffer, at: number, trip: number }[]} */
  #inFlight = [];
  #inFlightBytes = 0;
  #capacity;
  /** When the line will have accepted everything sent so far. */
  #busyUntil = 0;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #ended = false;

  /**
   * @param {Socket} from
   * @param {Socket} to
   * @param {LineOptions} line
   * @param {TripClock} clock
   */
  constructor(from, to, { roundTripMs = 0, bitsPerSecond = Number.POSITIVE_INFINITY }, clock) {
    this.#from = from;
    this.#to = to;
    this.#delayMs = roundTripMs / 2;
    this.#bytesPerMs = bitsPerSecond / 8000;
    this.#clock = clock;
    this.#capacity = Number.isFinite(this.#bytesPerMs)
      ? this.#bytesPerMs * this.#delayMs + BUFFER_BYTES
      : Number.POSITIVE_INFINITY;
    to.on('drain', () => this.#deliver());
    to.on('close', () => clearTimeout(this.#timer));
  }

  /** @param {Buffer} bytes */
  push(bytes) {
    this.#busyUntil = Math.max(performance.now(), this.#busyUntil) + bytes.length / this.#bytesPerMs;
    this.#inFlight.push({ bytes, at: this.#busyUntil + this.#delayMs, trip: this.#clock.trip() });
    this.#inFlightBytes += bytes.length;
    if (this.#inFlightBytes > this.#capacity) this.#from.pause();
    this.#schedule();
  }

  /** The end is delivered after the bytes. */
  end() {
    this.#ended = true;
    this.#schedule();
  }

  close() {
    this.end();
  }

  #schedule() {
    if (this.#timer !== undefined) return;
    const first = this.#inFlight[0];
    if (first === undefined) {
      if (this.#ended) this.#to.end();
      return;
    }
    // Timers count whole milliseconds, and a line must not deliver early.
    this.#timer = setTimeout(() => this.#deliver(), Math.max(0, first.at - performance.now()));
  }

  #deliver() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = performance.now();
    let due = this.#inFlight.findIndex(({ at }) => at > now);
    if (due < 0) due = this.#inFlight.length;
    for (const { bytes, trip } of this.#inFlight.splice(0, due)) {
      this.#clock.arrived(trip);
      this.#inFlightBytes -= bytes.length;
      this.#to.write(bytes);
    }
    if (this.#inFlightBytes <= this.#capacity && this.#from.isPaused()) this.#from.resume();
    if (!this.#to.writableNeedDrain) this.#schedule();
  }
}

/**
 * Counts how many times in sequence the near side received something that the far side sent after hearing from it.
 * Answers to requests sent together count once; establishing the connection does not count.
 * @param {Socket} near
 * @param {(trips: number) => void} counted
 * @returns {{ toServer: TripClock, toClient: TripClock }}
 */
export function tripClocks(near, counted) {
  // The last round trip each side has heard of. Whatever the near side sends next begins another one.
  let nearHeard = 0;
  let farHeard = 0;
  return {
    toServer: {
      trip: () => nearHeard + 1,
      arrived: (trip) => {
        farHeard = Math.max(farHeard, trip);
      },
    },
    toClient: {
      trip: () => farHeard,
      arrived: (trip) => {
        // A side that has hung up waits for nothing.
        if (near.readableEnded || near.destroyed) return;
        nearHeard = Math.max(nearHeard, trip);
        counted(nearHeard);
      },
    },
  };
}
