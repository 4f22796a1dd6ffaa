import { constants, deflateRawSync } from 'node:zlib';
import { type BinaryMessage, DeflatedMessage, type OutgoingMessage } from '../../rpc/index.js';
import { LineSpeed } from './line-speed.js';

/** Shorter messages gain little. */
const MIN_BYTES = 4 * 1024;
/** A message that does not shrink to this fraction is sent uncompressed. */
const WORTHWHILE_RATIO = 0.8;
/** The fastest level: a line fast enough to benefit from a better one does not need compression. */
const SETTINGS = { level: 1, finishFlush: constants.Z_SYNC_FLUSH };
/** Deflate trailer that the receiver appends again (RFC 7692). */
const TRAILER_BYTES = 4;
/** The line must be this much slower than compressing, because the processor has other work to do. */
const MIN_SLOWDOWN = 4;
/** How quickly fast measurements fade. Slow ones only mean that something else used the processor. */
const DECAY = 0.9;
/** The rate is measured again after this time, however low it was. */
const REMEASURED_MS = 500;
/** After messages that did not shrink, up to this many are sent without trying. */
const MAX_SKIPPED = 64;

/** How well the output of one process compresses. */
export class Shrinkage {
  #skip = 0;
  #failures = 0;

  /** Whether to try compressing the next message. */
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
 * Deflates output for a connection whose line is slower than that. Each message is compressed on its own, so no state
 * is kept between them, and synchronously, so that they stay in order with everything else.
 */
export class Compression {
  readonly line = new LineSpeed();
  /** Bytes per millisecond. */
  #rate = 0;
  #measuredAt = Number.NEGATIVE_INFINITY;

  /** Returns the message, compressed if that pays off. */
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
    return bytesPerMs * MIN_SLOWDOWN < this.#rate || performance.now() - this.#measuredAt > REMEASURED_MS;
  }

  #learn(bytes: number, { begun, end }: { begun: number; end: number }): void {
    this.#rate = Math.max(bytes / Math.max(end - begun, 0.001), this.#rate * DECAY);
    this.#measuredAt = end;
  }
}
