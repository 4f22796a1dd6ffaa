import { countNewlines, type LineMark, type LineSource, type OutputGap } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { TimeSlice } from '../protocol/time-slice.js';
import { SEARCH_SLICE_MS } from './search-slice.js';

const NEWLINE = 0x0a;
/** Bytes per read: enough to be cheap, few enough not to take long. */
export const BLOCK_BYTES = 128 * 1024;
/** Newlines are looked for in pieces of this size. */
const SEEK_BYTES = 64 * 1024;

/** A position that moves forward through output. It counts lines and records gaps. */
export class OutputCursor {
  readonly #source: LineSource;
  readonly #signal: AbortSignal | undefined;
  readonly #slice = new TimeSlice(SEARCH_SLICE_MS);
  readonly gaps: OutputGap[] = [];
  #offset: number;
  #newlines: number;
  /** The number of gaps skipped. */
  jumps = 0;

  constructor(source: LineSource, from: LineMark, signal?: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    this.#offset = Math.min(from.offset, source.totalBytes);
    this.#newlines = from.newlines;
  }

  /** A cursor at the beginning of a line, counted from 1, or of the part of it that is left. */
  static async atLine(source: LineSource, line: number, signal?: AbortSignal): Promise<OutputCursor> {
    const mark = line <= 1 ? { offset: 0, newlines: 0 } : source.markBefore({ line });
    const cursor = new OutputCursor(source, mark, signal);
    if (line > 1 && mark.offset > 0 && mark.newlines >= line - 1)
      cursor.gaps.push({ beforeLine: mark.newlines + 1, lostBytes: mark.offset });
    await cursor.#seek(() => cursor.newlines >= line - 1, line - 1);
    return cursor;
  }

  /** A cursor at a byte. */
  static async atOffset(source: LineSource, offset: number, signal?: AbortSignal): Promise<OutputCursor> {
    const cursor = new OutputCursor(source, source.markBefore({ offset }), signal);
    while (cursor.offset < offset) {
      const block = cursor.block(Math.min(SEEK_BYTES, offset - cursor.offset));
      if (!block) break;
      cursor.advance(block.length, countNewlines(block));
      await cursor.turn();
    }
    return cursor;
  }

  get offset(): number {
    return this.#offset;
  }

  /** The number of newlines before this position. */
  get newlines(): number {
    return this.#newlines;
  }

  get line(): number {
    return this.#newlines + 1;
  }

  /** The next bytes; undefined at the end. Valid until the next call or turn. May skip a gap first. */
  block(maxBytes = BLOCK_BYTES): Uint8Array | undefined {
    const { totalBytes } = this.#source;
    if (this.#offset >= totalBytes) return undefined;
    const found = this.#source.bytesAt(this.#offset, maxBytes);
    const next = found?.offset ?? totalBytes;
    if (next > this.#offset) this.#jump(next);
    return found?.bytes;
  }

  advance(bytes: number, newlines: number): void {
    this.#offset += bytes;
    this.#newlines += newlines;
  }

  /** Moves past the next newline. */
  async skipLine(): Promise<void> {
    const { newlines } = this;
    await this.#seek(() => this.#newlines > newlines, newlines + 1);
  }

  /** Yields the event loop if it is time. */
  async turn(options: { now?: boolean } = {}): Promise<void> {
    if (options.now || this.#slice.isOver) await this.#slice.yieldNow();
    if (this.#signal?.aborted) throw new ExecError('aborted', 'The search was aborted.');
  }

  /** Moves past the newline with this number. */
  async #seek(isThere: () => boolean, wanted: number): Promise<void> {
    while (!isThere()) {
      const jumps = this.jumps;
      const block = this.block(SEEK_BYTES);
      if (!block) return;
      if (this.jumps !== jumps && isThere()) return;
      const count = countNewlines(block);
      if (this.#newlines + count < wanted) this.advance(block.length, count);
      else this.advance(behindNewline(block, wanted - this.#newlines), wanted - this.#newlines);
      await this.turn();
    }
  }

  #jump(next: number): void {
    const lostBytes = next - this.#offset;
    const mark = this.#source.markBefore({ offset: next });
    this.#newlines = mark.offset === next ? mark.newlines : this.#newlines;
    this.#offset = next;
    this.jumps += 1;
    this.gaps.push({ beforeLine: this.line, lostBytes });
  }
}

/** The offset right after a newline, which is counted from 1. */
function behindNewline(bytes: Uint8Array, count: number): number {
  let at = -1;
  for (let found = 0; found < count; found += 1) at = bytes.indexOf(NEWLINE, at + 1);
  return at + 1;
}
