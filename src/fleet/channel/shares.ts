import { MAX_FRAGMENT_BYTES, FRAGMENT_COST } from './datagram.js';

/**
 * Bytes in flight to one bus connection, over all of its channels. A NATS server cuts a client off that has 64 MiB pending,
 * and delays others well before that.
 */
const MAX_BYTES_PER_BUS = 24 * 1024 * 1024;
/** Bytes in flight on one channel, in each direction. */
const MAX_WINDOW_BYTES = 2 * 1024 * 1024;
/** Windows begin small, because most channels never need more. */
const FIRST_WINDOW_BYTES = 64 * 1024;
/** A channel that could not send a single fragment would stand still. */
const MIN_WINDOW_BYTES = MAX_FRAGMENT_BYTES + FRAGMENT_COST;

/** Divides what a bus connection may have in flight among its channels. */
export class BusShares {
  #channels = 0;

  /** The most a channel may have in flight at the moment. */
  get limit(): number {
    const fair = Math.floor(MAX_BYTES_PER_BUS / Math.max(1, this.#channels));
    return Math.max(MIN_WINDOW_BYTES, Math.min(MAX_WINDOW_BYTES, fair));
  }

  /** The window of a new channel. */
  get first(): number {
    return Math.min(FIRST_WINDOW_BYTES, this.limit);
  }

  join(): void {
    this.#channels += 1;
  }

  leave(): void {
    this.#channels -= 1;
  }
}
