import { CapturedOutput } from './captured-output.js';
import type { CapturedRoom } from './captured-room.js';
import { outputText } from './output-text.js';

/** The most one stream may contribute to a message, with or without a cap: JSON can turn a byte into six characters. */
export const MAX_BUFFERED_BYTES = 32 * 1024 * 1024;

/** The part of a chunk of output that fits the cap. */
export interface PassedOutput {
  readonly bytes: Uint8Array;
  /** The cap is reached; nothing more of this stream follows. */
  readonly capReached: boolean;
}

/** Counts the bytes of one stream against its cap, and keeps them if they are delivered at the end. */
export class CappedOutput {
  readonly #capBytes: number;
  readonly #kept: CapturedOutput | null;
  #passedBytes = 0;
  #capReached = false;
  #tooLarge = false;

  /** `capBytes` null: no cap. `room` null: nothing is kept. */
  constructor(options: { capBytes: number | null; room: CapturedRoom | null }) {
    this.#capBytes = options.capBytes ?? Number.POSITIVE_INFINITY;
    this.#kept = options.room && new CapturedOutput(options.room);
  }

  /** True once the output has reached the cap. */
  get capReached(): boolean {
    return this.#capReached;
  }

  /** True if output within the cap was dropped: it is too large for a message, or there was no room to keep it. */
  get tooLarge(): boolean {
    return this.#tooLarge;
  }

  /** Undefined if nothing fits. With a cap of 0, one empty chunk shows that there was output. */
  take(bytes: Uint8Array): PassedOutput | undefined {
    if (this.#capReached) return undefined;
    const passed = bytes.subarray(0, Math.min(bytes.length, this.#capBytes - this.#passedBytes));
    if (this.#kept) this.#keep(this.#kept, passed);
    this.#passedBytes += passed.length;
    this.#capReached = this.#passedBytes >= this.#capBytes;
    return { bytes: passed, capReached: this.#capReached };
  }

  get keptBytes(): number {
    return this.#kept?.length ?? 0;
  }

  text(): string {
    const cut = this.#capReached || this.#tooLarge;
    return this.#kept ? outputText(this.#kept.read(), { cut }) : '';
  }

  /** Frees what was kept. Idempotent. */
  release(): void {
    this.#kept?.release();
  }

  #keep(kept: CapturedOutput, bytes: Uint8Array): void {
    if (this.#tooLarge) return;
    const fitting = bytes.subarray(0, MAX_BUFFERED_BYTES - kept.length);
    this.#tooLarge = !kept.append(fitting) || fitting.length < bytes.length;
  }
}
