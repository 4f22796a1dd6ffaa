/** @typedef {import('node:net').Socket} Socket */

/**
 * What a line between two machines is like.
 * @typedef {object} LineOptions
 * @property {number} [roundTripMs]
 * @property {number} [bitsPerSecond]
 */

/**
 * Numbers what one side sends by the round trip it belongs to, and hears of what arrived.
 * @typedef {object} TripClock
 * @property {() => number} trip
 * @property {(trip: number) => void} arrived
 */

/** How much may be under way in one direction beyond what delay and bandwidth hold: the buffers of a router. */
const BUFFER_BYTES = 64 * 1024;

/**
 * One direction of one connection: every byte arrives later by half a round trip, and no faster than the bandwidth. The
 * kernel's own means need rights that tests do not have.
 */
export class DelayedPassage {
  #from;
  #to;
  #delayMs;
  #bytesPerMs;
  #clock;
  /** @type {{ bytes: Buffer, at: number, trip: number }[]} */
  #underWay = [];
  #underWayBytes = 0;
  #capacity;
  /** When the line has taken in everything so far. */
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
    this.#underWay.push({ bytes, at: this.#busyUntil + this.#delayMs, trip: this.#clock.trip() });
    this.#underWayBytes += bytes.length;
    if (this.#underWayBytes > this.#capacity) this.#from.pause();
    this.#schedule();
  }

  /** The end travels behind the bytes. */
  end() {
    this.#ended = true;
    this.#schedule();
  }

  close() {
    this.end();
  }

  #schedule() {
    if (this.#timer !== undefined) return;
    const first = this.#underWay[0];
    if (first === undefined) {
      if (this.#ended) this.#to.end();
      return;
    }
    // Timers count whole milliseconds, and a line does not deliver early.
    this.#timer = setTimeout(() => this.#deliver(), Math.max(0, first.at - performance.now()));
  }

  #deliver() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const now = performance.now();
    let due = this.#underWay.findIndex(({ at }) => at > now);
    if (due < 0) due = this.#underWay.length;
    for (const { bytes, trip } of this.#underWay.splice(0, due)) {
      this.#clock.arrived(trip);
      this.#underWayBytes -= bytes.length;
      this.#to.write(bytes);
    }
    if (this.#underWayBytes <= this.#capacity && this.#from.isPaused()) this.#from.resume();
    if (!this.#to.writableNeedDrain) this.#schedule();
  }
}

/**
 * Counts how many times one after the other the near side got something that the far side sent after hearing from it.
 * Answers to what was sent together count once; making the connection itself is not counted.
 * @param {Socket} near
 * @param {(trips: number) => void} counted
 * @returns {{ toServer: TripClock, toClient: TripClock }}
 */
export function tripClocks(near, counted) {
  // The round trip that each side has last heard of. Whatever the near side says next begins another one.
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
        // Whoever has hung up waits for nothing.
        if (near.readableEnded || near.destroyed) return;
        nearHeard = Math.max(nearHeard, trip);
        counted(nearHeard);
      },
    },
  };
}
