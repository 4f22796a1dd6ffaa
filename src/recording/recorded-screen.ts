import xterm from '@xterm/headless';
import type { IBuffer, IBufferLine, IMarker, Terminal } from '@xterm/headless';
import type { TerminalSize } from '../contract/index.js';
import { ZeroWidthLimit } from './zero-width-limit.js';

/** The largest screen of a recording. Recordings are untrusted, so their size must not decide how much memory we use. */
export const MAX_SIZE: TerminalSize = { rows: 500, cols: 1000 };
/** The most scrollback, in cells of 12 bytes. */
const MAX_SCROLLBACK_CELLS = 2_000_000;
/** Text is passed to the emulator in pieces of this size. */
const PIECE_CHARS = 64 * 1024;
/** Sequences with a repeat count: insert, delete and scroll lines and columns, tabs, and repeat the last character. */
const REPEATED = ['L', 'M', 'S', 'T', 'I', 'Z', 'b'] as const;
/** Begins or ends a link. */
const HYPERLINK = 8;
/** Erases the scrollback. */
const ERASE_SCROLLBACK = '\u001b[3J';

export interface RecordedScreenOptions {
  readonly size: TerminalSize;
  /** Lines of scrollback to keep; fewer if they are very long. */
  readonly scrollback: number;
  /** Move a screen that the program erases into the scrollback. */
  readonly keepErased?: boolean;
}

/**
 * A terminal in memory that recorded text is written to. The text only ever fills its cells: sequences addressed to the
 * terminal itself have no effect, and queries are not answered.
 */
export class RecordedScreen {
  readonly #terminal: Terminal;
  readonly #keepErased: boolean;
  readonly #zeroWidth = new ZeroWidthLimit();
  /** Marks the very first line. */
  readonly #first: IMarker | undefined;
  /** Marks the last line returned by `departed`. */
  #taken: IMarker | undefined;
  #cursorHidden = false;

  constructor({ size, scrollback, keepErased = false }: RecordedScreenOptions) {
    const { rows, cols } = clamped(size);
    this.#keepErased = keepErased;
    this.#terminal = new xterm.Terminal({
      rows,
      cols,
      scrollback: Math.min(scrollback, Math.floor(MAX_SCROLLBACK_CELLS / cols)),
      allowProposedApi: true,
      scrollOnEraseInDisplay: keepErased,
      logLevel: 'off',
    });
    this.#first = this.#terminal.registerMarker(0);
    this.#refuseLoops();
    // Links are not rendered, and the emulator would remember every one.
    this.#terminal.parser.registerOscHandler(HYPERLINK, () => true);
    this.#watchCursor('h', false);
    this.#watchCursor('l', true);
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  get cols(): number {
    return this.#terminal.cols;
  }

  /** Column and row, counted from 0; null while it is hidden. */
  get cursor(): { readonly x: number; readonly y: number } | null {
    const { cursorX: x, cursorY: y } = this.#terminal.buffer.active;
    return this.#cursorHidden ? null : { x, y };
  }

  /** Whether a full-screen program uses the screen. */
  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === 'alternate';
  }

  /** Whether scrollback has been discarded. */
  get hasDropped(): boolean {
    const isFull = this.#terminal.buffer.normal.baseY >= (this.#terminal.options.scrollback ?? 0);
    return isFull && this.#first?.isDisposed === true;
  }

  /** A line of the screen. */
  row(index: number): IBufferLine | undefined {
    const { active } = this.#terminal.buffer;
    return active.getLine(active.baseY + index);
  }

  /** The lines of the screen, up to the last one with text. */
  activeRows(): Generator<IBufferLine, void> {
    return rowsOf(this.#terminal.buffer.active);
  }

  /** The same for the screen hidden by a full-screen program. */
  normalRows(): Generator<IBufferLine, void> {
    return rowsOf(this.#terminal.buffer.normal);
  }

  /** The scrollback that is still kept. */
  *scrollback(): Generator<IBufferLine, void> {
    const { normal } = this.#terminal.buffer;
    yield* linesOf(normal, 0, normal.baseY);
  }

  /** The lines that have scrolled off the screen since the last call. */
  *departed(): Generator<IBufferLine, void> {
    const { normal, active } = this.#terminal.buffer;
    const isKnown = this.#taken && !this.#taken.isDisposed;
    yield* linesOf(normal, isKnown ? (this.#taken?.line ?? -1) + 1 : 0, normal.baseY);
    // The screen of a full-screen program has no scrollback, and no such markers.
    if (active.type === 'alternate' || normal.baseY === 0) return;
    this.#taken?.dispose();
    this.#taken = this.#terminal.registerMarker(-normal.cursorY - 1);
  }

  resize(size: TerminalSize): void {
    const { rows, cols } = clamped(size);
    this.#terminal.resize(cols, rows);
  }

  /** Writes text in pieces small enough that no piece scrolls off more lines than are kept. */
  async *write(text: string): AsyncGenerator<void, void> {
    const drawn = this.#drawable(text);
    for (let from = 0; from < drawn.length; ) {
      const to = this.#pieceEnd(drawn, from);
      await this.#put(drawn.slice(from, to));
      yield;
      from = to;
    }
  }

  /** Writes all of it, ignoring lines that scroll off. */
  async draw(text: string): Promise<void> {
    await this.#put(this.#drawable(text));
  }

  #drawable(text: string): string {
    return this.#zeroWidth.limit(this.#keepErased ? text.replaceAll(ERASE_SCROLLBACK, '') : text);
  }

  #put(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#terminal.write(text, resolve);
    });
  }

  #pieceEnd(text: string, from: number): number {
    const end = Math.min(text.length, from + PIECE_CHARS);
    const { rows, cols } = this.#terminal;
    const most = (this.#terminal.options.scrollback ?? 0) - 2 * rows;
    let lines = 0;
    for (let at = from; at < end; at += 1) {
      const code = text.charCodeAt(at);
      // Line feeds and similar controls, escapes that may act like one, and the J that erases the screen.
      lines += code < 0x20 || (code >= 0x80 && code < 0xa0) ? 1 : code === 0x4a ? rows : 2 / cols;
      if (lines > most && at > from) return at;
    }
    return end;
  }

  /** Caps repeat counts at the size of the screen, so that a few bytes cannot keep us busy for hours. */
  #refuseLoops(): void {
    const { parser } = this.#terminal;
    for (const final of REPEATED)
      parser.registerCsiHandler({ final }, ([count = 1]) => Number(count) > Math.max(this.rows, this.cols));
  }

  #watchCursor(final: 'h' | 'l', hidden: boolean): void {
    this.#terminal.parser.registerCsiHandler({ prefix: '?', final }, (params) => {
      if (params.includes(25)) this.#cursorHidden = hidden;
      return false;
    });
  }
}

function clamped({ rows, cols }: TerminalSize): TerminalSize {
  const within = (value: number, most: number): number => Math.max(1, Math.min(most, Math.floor(value) || 1));
  return { rows: within(rows, MAX_SIZE.rows), cols: within(cols, MAX_SIZE.cols) };
}

function* linesOf(buffer: IBuffer, from: number, to: number): Generator<IBufferLine, void> {
  for (let index = from; index < to; index += 1) {
    const line = buffer.getLine(index);
    if (line) yield line;
  }
}

function rowsOf(buffer: IBuffer): Generator<IBufferLine, void> {
  let end = buffer.length;
  while (
    end > buffer.baseY &&
    buffer
      .getLine(end - 1)
      ?.translateToString(true)
      .trimEnd() === ''
  )
    end -= 1;
  return linesOf(buffer, buffer.baseY, end);
}
