import { type Found, LastingSequences } from './lasting-sequences.js';
import { MAX_SEQUENCE_BYTES } from './sequence-end.js';
import { unfinishedTail } from './unfinished.js';

/** The most styles kept that add up. No correct program sets more without a reset. */
const MAX_LOOKS = 32;
/** How much of the text below a full-screen program is kept. */
const MAX_BELOW_BYTES = 64 * 1024;

interface Kept {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

/**
 * Output that was not parsed because there was too much of it. Only its lasting effects are kept: which screen is active,
 * modes, the scroll region, character sets, colours, and an incomplete sequence.
 */
export class SkippedOutput {
  readonly #belowBytes: number;
  /** By setting, in the order they were set. */
  #lasting = new Map<string | number, Kept>();
  #looks: Kept[] = [];
  #open: Uint8Array = new Uint8Array(0);
  #seq = 0;

  /** `keepsBelow`: also keep the text printed before a full-screen program, which comes back when that ends. */
  constructor({ keepsBelow }: { keepsBelow: boolean }) {
    this.#belowBytes = keepsBelow ? MAX_BELOW_BYTES : 0;
  }

  /** The number of the last chunk. */
  get seq(): number {
    return this.#seq;
  }

  /** The sequences that bring a terminal to the same state, except for the text. */
  get lasting(): Uint8Array {
    return Buffer.concat([...this.#lasting.values(), ...this.#looks].map(({ bytes }) => bytes));
  }

  /** The beginning of an incomplete sequence. */
  get open(): Uint8Array {
    return this.#open;
  }

  /** Call when everything up to here was parsed, and ended with these incomplete bytes. */
  parsed(seq: number, unfinished: Uint8Array): void {
    const isLater = (kept: Kept): boolean => kept.seq > seq;
    this.#lasting = new Map([...this.#lasting].filter(([, each]) => isLater(each)));
    this.#looks = this.#looks.filter(isLater);
    if (seq < this.#seq) return;
    this.#seq = seq;
    this.#open = unfinished;
  }

  skip(seq: number, chunk: Uint8Array): void {
    this.#seq = seq;
    const bytes = Buffer.concat([this.#open, chunk]);
    const sequences = new LastingSequences(bytes);
    const { found, looks, reset, open } = sequences;
    if (reset === 'all') this.#lasting.clear();
    if (reset) this.#looks = [];
    for (const [what, each] of [...found].sort(([, left], [, right]) => left.at - right.at)) {
      const below = what === 'screen' ? Math.min(each.at - sequences.screenFrom, this.#belowBytes) : 0;
      this.#keep(what, bytesOf(bytes, { ...each, at: each.at - below }, below));
    }
    const kept = looks.slice(-MAX_LOOKS).map((each) => ({ seq, bytes: bytesOf(bytes, each) }));
    this.#looks = [...this.#looks, ...kept].slice(-MAX_LOOKS);
    this.#open =
      open < bytes.length
        ? bytesOf(bytes, { at: open, end: open + MAX_SEQUENCE_BYTES })
        : unfinishedTail(bytes, { isWithinSequence: false });
  }

  #keep(what: string | number, bytes: Uint8Array): void {
    this.#lasting.delete(what);
    this.#lasting.set(what, { seq: this.#seq, bytes });
  }
}

/** Copies the bytes, because the log may reuse its memory. `before`: how many of them precede the sequence. */
function bytesOf(bytes: Buffer, { at, end, set }: Found, before = 0): Uint8Array {
  if (set === undefined) return new Uint8Array(bytes.subarray(at, end));
  return Buffer.concat([bytes.subarray(at, at + before), Buffer.from(set)]);
}
