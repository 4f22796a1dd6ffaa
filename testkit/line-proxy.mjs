import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * A line between two programs on this machine: every byte arrives later by half a round trip, and no faster than the
 * bandwidth. For tests and benchmarks of distance; the kernel's own means need rights that tests do not have.
 */
export class LineProxy {
  /** @type {import('node:net').Server} */
  #server;
  /** @type {Set<Direction>} */
  #directions = new Set();
  /** Bytes that came through, both ways. */
  bytes = 0;
  /**
   * How many times one after the other the near side got something that the far side sent after hearing from it: the most of
   * any connection. Answers to what was sent together count once; making the connection itself is not counted.
   */
  roundTrips = 0;

  /**
   * @param {{ port: number, host?: string }} target
   * @param {{ roundTripMs?: number, bitsPerSecond?: number }} [line]
   */
  constructor(target, { roundTripMs = 0, bitsPerSecond = Number.POSITIVE_INFINITY } = {}) {
    this.#server = createServer((near) => {
      const far = connect(target.port, target.host ?? '127.0.0.1');
      const options = { delayMs: roundTripMs / 2, bytesPerMs: bitsPerSecond / 8000 };
      near.setNoDelay(true);
      far.setNoDelay(true);
      // The round trip that each side has last heard of. Whatever the near side says next begins another one.
      let nearHeard = 0;
      let farHeard = 0;
      const outward = {
        trip: () => nearHeard + 1,
        arrived: (trip) => {
          farHeard = Math.max(farHeard, trip);
        },
      };
      const homeward = {
        trip: () => farHeard,
        arrived: (trip) => {
          // Whoever has hung up waits for nothing.
          if (near.readableEnded || near.destroyed) return;
          nearHeard = Math.max(nearHeard, trip);
          this.roundTrips = Math.max(this.roundTrips, trip);
        },
      };
      for (const [from, to, clock] of [
        [near, far, outward],
        [far, near, homeward],
      ]) {
        const count = (bytes) => {
          this.bytes += bytes;
        };
        const direction = new Direction(from, to, { ...options, clock }, count);
        this.#directions.add(direction);
        from.on('close', () => {
          this.#directions.delete(direction);
          direction.end();
        });
      }
    });
  }

  /** Resolves to the port it listens on. */
  async listen() {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return /** @type {import('node:net').AddressInfo} */ (this.#server.address()).port;
  }

  /** Cuts every connection. */
  cut() {
    for (const direction of this.#directions) direction.destroy();
  }

  async close() {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** How much may be under way in one direction beyond what delay and bandwidth hold: the buffers of a router. */
const BUFFER_BYTES = 64 * 1024;

/** One direction of one connection. */
class Direction {
  #from;
  #to;
  #delayMs;
  #bytesPerMs;
  #clock;
  /** @type {{ data: Buffer, at: number, trip: number }[]} */
  #underWay = [];
  #underWayBytes = 0;
  #capacity;
  /** When the line has taken in everything so far. */
  #busyUntil = 0;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #ended = false;

  constructor(from, to, { delayMs, bytesPerMs, clock }, count) {
    this.#clock = clock;
    this.#from = from;
    this.#to = to;
    this.#delayMs = delayMs;
    this.#bytesPerMs = bytesPerMs;
    this.#capacity = Number.isFinite(bytesPerMs)
      ? bytesPerMs * delayMs + BUFFER_BYTES
      : Number.POSITIVE_INFINITY;
    from.on('error', () => this.destroy());
    from.on('end', () => this.end());
    from.on('data', (data) => {
      count(data.length);
      const now = performance.now();
      this.#busyUntil = Math.max(now, this.#busyUntil) + data.length / this.#bytesPerMs;
      this.#underWay.push({ data, at: this.#busyUntil + this.#delayMs, trip: clock.trip() });
      this.#underWayBytes += data.length;
      if (this.#underWayBytes > this.#capacity) from.pause();
      this.#schedule();
    });
    to.on('drain', () => this.#deliver());
  }

  end() {
    this.#ended = true;
    this.#schedule();
  }

  destroy() {
    clearTimeout(this.#timer);
    this.#from.destroy();
    this.#to.destroy();
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
    let due = 0;
    while (due < this.#underWay.length && this.#underWay[due].at <= now) due += 1;
    for (const { data, trip } of this.#underWay.splice(0, due)) {
      this.#clock.arrived(trip);
      this.#underWayBytes -= data.length;
      this.#to.write(data);
    }
    if (this.#underWayBytes <= this.#capacity && this.#from.isPaused()) this.#from.resume();
    if (!this.#to.writableNeedDrain) this.#schedule();
  }
}
