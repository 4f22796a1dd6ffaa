import { ExecError } from '../../protocol/errors.js';
import type { NumberedBytes } from './outgoing-bytes.js';

/** Progress is acknowledged at least this often: half of the smallest window. */
const ACKNOWLEDGE_BYTES = 64 * 1024;

/** Delivers bytes from the other side once and in order. */
export class IncomingBytes {
  readonly #maxUntaken: number;
  #received = 0;
  #taken = 0;
  #told = 0;
  #ended = false;

  /** `maxUntaken`: the most that an honest sender has in flight. */
  constructor(maxUntaken: number) {
    this.#maxUntaken = maxUntaken;
  }

  /** The number of the next byte. The end counts as one. */
  get received(): number {
    return this.#received;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether everything has been consumed, including the end. */
  get done(): boolean {
    return this.#ended && this.#taken === this.#received;
  }

  /** Received, and not taken yet. */
  get untaken(): number {
    return this.#received - this.#taken;
  }

  /** Returns the new part. Throws if there is a gap before it, or too much is unconsumed. */
  receive({ offset, bytes, end }: NumberedBytes): { bytes: Uint8Array; end: boolean } {
    const known = this.#received - offset;
    const last = offset + bytes.length;
    if (known < 0 || (this.#ended && last >= this.#received)) throw violation('bytes are missing');
    if (known > bytes.length) return { bytes: bytes.subarray(bytes.length), end: false };
    if (last - this.#taken > this.#maxUntaken) throw violation('they exceed the window');
    this.#ended = end;
    this.#received = end ? last + 1 : last;
    return { bytes: bytes.subarray(known), end };
  }

  /** Call when the reader has consumed this many more bytes. Returns what to acknowledge, or null if that can wait. */
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
