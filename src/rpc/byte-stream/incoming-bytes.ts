import { ExecError } from '../../protocol/errors.js';
import type { NumberedBytes } from './outgoing-bytes.js';

/** The other side hears of progress this often, at least: half of the smallest window. */
const ACKNOWLEDGE_BYTES = 64 * 1024;

/** Bytes from the other side, each once and in order. */
export class IncomingBytes {
  readonly #maxUntaken: number;
  #received = 0;
  #taken = 0;
  #told = 0;
  #ended = false;

  /** `maxUntaken`: an honest sender has no more in flight. */
  constructor(maxUntaken: number) {
    this.#maxUntaken = maxUntaken;
  }

  /** The number of the next byte, counting the end as one. */
  get received(): number {
    return this.#received;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Everything has been taken, including the end. */
  get done(): boolean {
    return this.#ended && this.#taken === this.#received;
  }

  /** What of it is new. Throws if something is missing before it, or there is too much of it. */
  receive({ offset, bytes, end }: NumberedBytes): { bytes: Uint8Array; end: boolean } {
    const known = this.#received - offset;
    const last = offset + bytes.length;
    if (known < 0 || (this.#ended && last >= this.#received)) throw violation('bytes are missing');
    if (known > bytes.length) return { bytes: bytes.subarray(bytes.length), end: false };
    if (last - this.#taken > this.#maxUntaken) throw violation('there are more than its window allows');
    this.#ended = end;
    this.#received = end ? last + 1 : last;
    return { bytes: bytes.subarray(known), end };
  }

  /** Whoever reads has taken so many more. Returns what to acknowledge, or null if that can wait. */
  take(count: number): number | null {
    this.#taken += count;
    if (this.#ended && this.#taken === this.#received - 1) this.#taken += 1;
    return this.#taken - this.#told >= ACKNOWLEDGE_BYTES || this.done ? this.acknowledge() : null;
  }

  acknowledge(): number {
    this.#told = this.#taken;
    return this.#told;
  }
}

function violation(why: string): ExecError {
  return new ExecError('protocolViolation', `The other side sent bytes out of place: ${why}.`);
}
