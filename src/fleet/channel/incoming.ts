import { Flag, FRAGMENT_COST, type Datagram } from './datagram.js';
import { Queue } from './queue.js';

/** What an accepted fragment turned out to be. */
export type Arrival = 'next' | 'repeated' | 'gap' | 'excessive';

export interface IncomingOptions {
  /** A window's size at first, and at most. */
  readonly first: number;
  readonly limit: () => number;
  readonly fragment: (datagram: Datagram) => void;
}

/** The receiving half of a channel: restores the order, and grants as much as is being consumed. */
export class Incoming {
  /** The last fragment received in order. */
  received = 0;
  /** What the other side may have sent in total. */
  credit: number;
  readonly #options: IncomingOptions;
  readonly #held = new Queue<Datagram>();
  #receivedBytes = 0;
  #consumedBytes = 0;
  #window: number;
  /** The window doubles once this much has been consumed. */
  #growAt: number;
  #isDelivering = false;
  isPaused = true;

  constructor(options: IncomingOptions) {
    this.#options = options;
    this.#window = options.first;
    this.#growAt = options.first;
    this.credit = options.first;
  }

  get window(): number {
    return this.#window;
  }

  accept(datagram: Datagram): Arrival {
    const { seq, flags, payload } = datagram;
    if (seq <= this.received) return 'repeated';
    if (seq > this.received + 1) return 'gap';
    const isEnd = (flags & Flag.fin) !== 0;
    if (!isEnd) this.#receivedBytes += payload.length + FRAGMENT_COST;
    if (this.#receivedBytes > this.credit) return 'excessive';
    this.received = seq;
    this.#held.push(datagram);
    this.deliver();
    return 'next';
  }

  /** Hands out what is held, unless paused. */
  deliver(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    try {
      while (!this.isPaused) {
        const next = this.#held.shift();
        if (!next) break;
        this.#consume(next);
        this.#options.fragment(next);
      }
    } finally {
      this.#isDelivering = false;
    }
  }

  discard(): void {
    this.#held.clear();
  }

  #consume({ payload, flags }: Datagram): void {
    if (flags & Flag.fin) return;
    this.#consumedBytes += payload.length + FRAGMENT_COST;
    if (this.#consumedBytes >= this.#growAt) {
      this.#window = Math.min(this.#window * 2, this.#options.limit());
      this.#growAt = this.#consumedBytes + this.#window;
    }
    // Never less than was granted before, also if the window has shrunk.
    this.credit = Math.max(this.credit, this.#consumedBytes + this.#window);
  }
}
