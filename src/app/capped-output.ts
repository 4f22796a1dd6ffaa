import { outputText } from './output-text.js';

/** The most one stream may contribute to a message, with or without a cap: JSON can turn a byte into six characters. */
export const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;
const FIRST_BUFFER_BYTES = 4 * 1024;

/** The part of a chunk of output that fits the cap. */
export interface PassedOutput {
  readonly bytes: Uint8Array;
  /** The cap is reached; nothing more of this stream follows. */
  readonly capReached: boolean;
}

/** Counts the bytes of one stream against its cap, and keeps them if they are delivered at the end. */
export class CappedOutput {
  readonly #capBytes: number;
  readonly #keeps: boolean;
  #passedBytes = 0;
  #capReached = false;
  #tooLarge = false;
  #kept = new Uint8Array(0);

  /** `capBytes` null: no cap. */
  constructor(options: { capBytes: number | null; keeps: boolean }) {
    this.#capBytes = options.capBytes ?? Number.POSITIVE_INFINITY;
    this.#keeps = options.keeps;
  }

  /** True once the output has reached the cap. */
  get capReached(): boolean {
    return this.#capReached;
  }

  /** True if output within the cap was dropped. */
  get tooLarge(): boolean {
    return this.#tooLarge;
  }

  /** Undefined if nothing fits. With a cap of 0, one empty chunk shows that there was output. */
  take(bytes: Uint8Array): PassedOutput | undefined {
    if (this.#capReached) return undefined;
    const passed = bytes.subarray(0, Math.min(bytes.length, this.#capBytes - this.#passedBytes));
    if (this.#keeps) this.#keep(passed);
    this.#passedBytes += passed.length;
    this.#capReached = this.#passedBytes >= this.#capBytes;
    return { bytes: passed, capReached: this.#capReached };
  }

  text(): string {
    const length = Math.min(this.#passedBytes, MAX_BUFFERED_BYTES);
    const cut = this.#capReached || this.#tooLarge;
    return this.#keeps ? outputText(this.#kept.subarray(0, length), { cut }) : '';
  }

  /** Copies into one growing buffer: a program that writes byte by byte must not cost an object per byte. */
  #keep(bytes: Uint8Array): void {
    const room = MAX_BUFFERED_BYTES - Math.min(this.#passedBytes, MAX_BUFFERED_BYTES);
    if (bytes.length > room) this.#tooLarge = true;
    const fitting = bytes.subarray(0, room);
    const needed = Math.min(this.#passedBytes, MAX_BUFFERED_BYTES) + fitting.length;
    if (needed > this.#kept.length) {
      const larger = new Uint8Array(Math.max(needed, this.#kept.length * 2, FIRST_BUFFER_BYTES));
      larger.set(this.#kept);
      this.#kept = larger;
    }
    this.#kept.set(fitting, needed - fitting.length);
  }
}
