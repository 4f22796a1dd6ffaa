import { constants, deflateRawSync } from 'node:zlib';
import { type BinaryMessage, DeflatedMessage, type OutgoingMessage } from '../../rpc/index.js';
import { LineSpeed } from './line-speed.js';

/** Shorter messages gain little. */
const MIN_BYTES = 4 * 1024;
/** What does not get at least this much shorter travels as it is. */
const WORTHWHILE_RATIO = 0.8;
/** The fastest level: a line fast enough to want a better one wants none at all. */
const SETTINGS = { level: 1, finishFlush: constants.Z_SYNC_FLUSH };
/** What a receiver appends again by itself. */
const TRAILER_BYTES = 4;
/** The line has to be this much slower than deflating: the same processor has other things to do. */
const SLOWER_BY = 4;
/** How fast good measurements of deflating are forgotten. Bad ones say that somebody else had the processor meanwhile. */
const FADING = 0.9;
/** After this time it is measured again, however bad it was. */
const REMEASURED_MS = 500;
/** After messages that did not shrink, up to this many are not even tried. */
const MAX_SKIPPED = 64;

/** What is known of the output of one process. */
export class Shrinkage {
  #skip = 0;
  #failures = 0;

  /** Whether the next message is worth a try. */
  tries(): boolean {
    this.#skip -= 1;
    return this.#skip < 0;
  }

  tried(shrank: boolean): void {
    this.#failures = shrank ? 0 : this.#failures + 1;
    this.#skip = shrank ? 0 : Math.min(2 ** this.#failures, MAX_SKIPPED);
  }
}

/**
 * Deflates output for a connection whose line is slower than that. Every message by itself, so that nothing is kept between two of
 * them; and at once, so that they stay in order with everything else.
 */
export class Compression {
  readonly line = new LineSpeed();
  /** Bytes per millisecond. */
  #rate = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;

  /** The message, shorter if that pays. */
  pack(message: BinaryMessage, shrinkage: Shrinkage): OutgoingMessage {
    if (message.length < MIN_BYTES || !this.#pays() || !shrinkage.tries()) return message;
    const begun = performance.now();
    const deflated = deflateRawSync(message.joined(), SETTINGS);
    this.#learn(message.length, { begun, end: performance.now() });
    const shrank = deflated.length < message.length * WORTHWHILE_RATIO;
    shrinkage.tried(shrank);
    return shrank ? new DeflatedMessage(deflated.subarray(0, -TRAILER_BYTES)) : message;
  }

  #pays(): boolean {
    const { bytesPerMs } = this.line;
    if (bytesPerMs === undefined) return false;
    return bytesPerMs * SLOWER_BY < this.#rate || performance.now() - this.#measuredAt > REMEASURED_MS;
  }

  #learn(bytes: number, { begun, end }: { begun: number; end: number }): void {
    this.#rate = Math.max(bytes / Math.max(end - begun, 0.001), this.#rate * FADING);
    this.#measuredAt = end;
  }
}
