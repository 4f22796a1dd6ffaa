import { HeadAndTail } from './head-and-tail.js';
import { chooseEnds, cutMarker, joinEnds } from './middle-cut.js';
import { BYTES_PER_TOKEN, byteTokenizer, type Tokenizer, tokensOfBytes } from './tokenizer.js';

/** A text cut to a token budget. */
export interface Budgeted {
  readonly text: string;
  /** The middle was cut; `text` says how much. */
  readonly truncated: boolean;
  /** Token count before the cut. */
  readonly originalTokens: number;
}

/** Each round shrinks by a tenth: enough to get from the largest budget down to the bare marker. */
const MAX_ROUNDS = 200;

/** Collects a text of any length in pieces and returns its beginning and end within a token budget. */
export class BudgetedText {
  readonly #maxTokens: number;
  readonly #tokenizer: Tokenizer;
  readonly #ends: HeadAndTail;
  #tokens = 0;

  constructor(options: { maxTokens: number; tokenizer?: Tokenizer }) {
    this.#maxTokens = options.maxTokens;
    this.#tokenizer = options.tokenizer ?? byteTokenizer;
    this.#ends = new HeadAndTail(options.maxTokens * this.#tokenizer.maxBytesPerToken);
  }

  append(text: string): void {
    if (text === '') return;
    this.#ends.append(text);
    if (this.#tokenizer !== byteTokenizer) this.#tokens += this.#tokenizer.count(text);
  }

  /** Nothing has been discarded yet. */
  get complete(): boolean {
    return this.#ends.complete;
  }

  /**
   * Returns the text within `maxTokens`, which may exceed the original budget only while `complete`. A longer one is cut to
   * `cutTokens`.
   */
  finish(maxTokens = this.#maxTokens, cutTokens = maxTokens): Budgeted {
    const head = this.#ends.head();
    const { totalBytes } = this.#ends;
    const originalTokens = this.#tokenizer === byteTokenizer ? tokensOfBytes(totalBytes) : this.#tokens;
    if (totalBytes === head.length && originalTokens <= maxTokens) {
      return { text: head.toString(), truncated: false, originalTokens };
    }
    const text =
      this.#tokenizer === byteTokenizer
        ? cutMiddle({
            head,
            tail: this.#ends.tail(),
            totalBytes,
            maxBytes: cutTokens * BYTES_PER_TOKEN,
          })
        : this.#shrink(head, originalTokens, cutTokens);
    return { text, truncated: true, originalTokens };
  }

  /** A tokenizer can only count a finished text: start from the average and shrink until it fits. */
  #shrink(head: Buffer, originalTokens: number, maxTokens: number): string {
    const tail = this.#ends.tail();
    const bytesPerToken = this.#ends.totalBytes / Math.max(1, originalTokens);
    let maxBytes = Math.min(head.length, Math.ceil(maxTokens * bytesPerToken));
    for (let round = 0; round < MAX_ROUNDS && maxBytes > 0; round += 1) {
      const ends = chooseEnds({ head, tail, maxBytes, marker: cutMarker(originalTokens) });
      if (ends === null) break;
      const kept =
        this.#tokenizer.count(ends.prefix.toString()) + this.#tokenizer.count(ends.suffix.toString());
      const text = joinEnds(ends, cutMarker(Math.max(0, originalTokens - kept)));
      if (this.#tokenizer.count(text) <= maxTokens) return text;
      maxBytes = Math.floor(maxBytes * 0.9);
    }
    return cutMarker(originalTokens);
  }
}

/** Cuts the middle of a text to fit a number of bytes. Four bytes count as one token. */
export function truncateMiddle(text: string, maxBytes: number): Budgeted {
  const bytes = Buffer.from(text);
  const originalTokens = tokensOfBytes(bytes.length);
  if (bytes.length <= maxBytes) return { text, truncated: false, originalTokens };
  const cut = cutMiddle({ head: bytes, tail: bytes, totalBytes: bytes.length, maxBytes });
  return { text: cut, truncated: true, originalTokens };
}

function cutMiddle(source: { head: Buffer; tail: Buffer; totalBytes: number; maxBytes: number }): string {
  const total = tokensOfBytes(source.totalBytes);
  // No marker is longer than this one: the number of removed tokens cannot exceed the total.
  const ends = chooseEnds({ ...source, marker: cutMarker(total) });
  if (ends === null) return cutMarker(total);
  const removed = source.totalBytes - ends.prefix.length - ends.suffix.length;
  return joinEnds(ends, cutMarker(tokensOfBytes(removed)));
}
