import { countNewlines } from '../contract/index.js';
import type { LinePattern } from './line-pattern.js';
import type { LineScan } from './line-scan.js';
import type { OutputCursor } from './output-cursor.js';
import type { SearchPosition } from './search-cursor.js';

const NEWLINE = 0x0a;
const ESCAPE = 0x1b;
/** The most matches returned at once. */
const MAX_HITS = 256;

/** A matching line and where it begins. */
export interface Hit {
  readonly line: number;
  readonly offset: number;
}

/** Moves a cursor through output and finds matching lines. */
export class MatchFinder {
  readonly #literal: Buffer | null;
  readonly #cursor: OutputCursor;
  readonly #scan: LineScan;
  /** Where the current line begins. */
  #lineStart: number;
  /** Whether the current line is known to match. */
  #matched = false;
  #jumps: number;
  isAtEnd = false;
  /** Whether the pattern was expensive, so that it is time to yield. */
  isTired = false;

  constructor(pattern: LinePattern, cursor: OutputCursor) {
    this.#literal = pattern.literal;
    this.#cursor = cursor;
    this.#scan = pattern.scan();
    this.#lineStart = cursor.offset;
    this.#jumps = cursor.jumps;
  }

  get #isBetweenLines(): boolean {
    return this.#cursor.offset === this.#lineStart;
  }

  get position(): SearchPosition {
    const { newlines, offset } = this.#cursor;
    return { newlines, offset, isInside: false };
  }

  get lineStart(): SearchPosition {
    return { newlines: this.#cursor.newlines, offset: this.#lineStart, isInside: false };
  }

  /** Up to `most` of the next matches, often none. Null at the end. */
  next(most: number): Hit[] | null {
    const cursor = this.#cursor;
    const block = cursor.block();
    if (cursor.jumps !== this.#jumps) this.#restart();
    this.isTired = false;
    this.isAtEnd = block === undefined;
    if (!block) return null;
    const limit = Math.min(most, MAX_HITS);
    const lines = this.#literal && this.#isBetweenLines ? wholeLines(block) : 0;
    return this.#literal && lines > 0
      ? this.#findLiteral(block.subarray(0, lines), this.#literal, limit)
      : this.#findPattern(block, limit);
  }

  /** The unfinished last line, if it already matches. */
  open(): Hit | null {
    if (this.#isBetweenLines) return null;
    return this.#matched || this.#scan.matchesAtEnd() ? this.#hit() : null;
  }

  #hit(): Hit {
    return { line: this.#cursor.line, offset: this.#lineStart };
  }

  /** After a gap, the rest of a line counts as a line. */
  #restart(): void {
    this.#jumps = this.#cursor.jumps;
    this.#lineStart = this.#cursor.offset;
    this.#matched = false;
    this.#scan.restart();
  }

  #findLiteral(block: Uint8Array, literal: Buffer, most: number): Hit[] {
    const bytes = bufferOf(block);
    const hits: Hit[] = [];
    let done = 0;
    for (let at = bytes.indexOf(literal); at >= 0 && hits.length < most; at = bytes.indexOf(literal, done)) {
      const start = at === 0 ? 0 : bytes.lastIndexOf(NEWLINE, at - 1) + 1;
      this.#pass(bytes.subarray(done, start));
      hits.push(this.#hit());
      const end = bytes.indexOf(NEWLINE, at) + 1;
      this.#pass(bytes.subarray(start, end));
      done = end;
    }
    if (hits.length < most) this.#pass(bytes.subarray(done));
    return hits;
  }

  /** Moves past complete lines. */
  #pass(lines: Uint8Array): void {
    this.#cursor.advance(lines.length, countNewlines(lines));
    this.#lineStart = this.#cursor.offset;
  }

  #findPattern(block: Uint8Array, most: number): Hit[] {
    const bytes = bufferOf(block);
    const hits: Hit[] = [];
    let at = 0;
    while (at < block.length && hits.length < most) {
      if (!this.#matched) {
        const stop = this.#scan.run(block, at);
        this.#cursor.advance(this.#scan.at - at, stop === 'lineEnd' ? 1 : 0);
        at = this.#scan.at;
        if (stop === 'lineEnd') this.#lineStart = this.#cursor.offset;
        this.#matched = stop === 'match';
        this.isTired = stop === 'tired';
        if (this.isTired) return hits;
        if (!this.#matched) continue;
      }
      const end = bytes.indexOf(NEWLINE, at);
      const isWhole = end >= 0;
      if (isWhole) hits.push(this.#hit());
      this.#cursor.advance((isWhole ? end + 1 : block.length) - at, isWhole ? 1 : 0);
      at = isWhole ? end + 1 : block.length;
      if (!isWhole) break;
      this.#lineStart = this.#cursor.offset;
      this.#matched = false;
    }
    return hits;
  }
}

/** The length of the complete lines in a block; 0 if escape sequences in them could hide text from a plain search. */
function wholeLines(block: Uint8Array): number {
  const bytes = bufferOf(block);
  return bytes.includes(ESCAPE) ? 0 : bytes.lastIndexOf(NEWLINE) + 1;
}

/** The same bytes as a `Buffer`, whose search is many times faster. */
function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
