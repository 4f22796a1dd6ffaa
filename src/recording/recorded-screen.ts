import xterm from '@xterm/headless';
import type { IBuffer, IBufferLine, IMarker, Terminal } from '@xterm/headless';
import type { TerminalSize } from '../contract/index.js';
import { ZeroWidthLimit } from './zero-width-limit.js';

/** Recordings come from strangers: no size costs more memory than a large screen does. */
export const MAX_SIZE: TerminalSize = { rows: 500, cols: 1000 };
/** Cells of lines that have left the screen. Each takes 12 bytes. */
const MAX_SCROLLBACK_CELLS = 2_000_000;
/** Given to the emulator at once. */
const PIECE_CHARS = 64 * 1024;
/** Repeated as often as a number says: lines and columns inserted, deleted, scrolled, tabs, and the last character again. */
const REPEATED = ['L', 'M', 'S', 'T', 'I', 'Z', 'b'] as const;
/** Begins or ends a link. */
const HYPERLINK = 8;
/** Erases the lines that have left the screen. */
const ERASE_SCROLLBACK = '\u001b[3J';

export interface RecordedScreenOptions {
  readonly size: TerminalSize;
  /** Lines to keep that have left the screen, fewer if they are very long. */
  readonly scrollback: number;
  /** A program that erases the screen only moves it out of view. */
  readonly keepErased?: boolean;
}

/**
 * A terminal in memory, to which recorded text is written. Nothing of that text ever gets further than into its cells:
 * what a program says to the terminal itself has no effect, and questions are not answered.
 */
export class RecordedScreen {
  readonly #terminal: Terminal;
  readonly #keepErased: boolean;
  readonly #zeroWidth = new ZeroWidthLimit();
  /** Stands on the first line of all. */
  readonly #first: IMarker | undefined;
  /** Stands on the last line that was taken by `departed`. */
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
    // Links are left out, and the emulator would remember every one.
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

  /** Whether a full-screen program has the screen. */
  get isAlternate(): boolean {
    return this.#terminal.buffer.active.type === 'alternate';
  }

  /** Lines have left the screen that are no longer kept. */
  get hasDropped(): boolean {
    const isFull = this.#terminal.buffer.normal.baseY >= (this.#terminal.options.scrollback ?? 0);
    return isFull && this.#first?.isDisposed === true;
  }

  /** A line of the screen. */
  row(index: number): IBufferLine | undefined {
    const { active } = this.#terminal.buffer;
    return active.getLine(active.baseY + index);
  }

  /** What the screen shows, up to the last line that has text. */
  activeRows(): Generator<IBufferLine, void> {
    return rowsOf(this.#terminal.buffer.active);
  }

  /** The same for the screen that a full-screen program hides. */
  normalRows(): Generator<IBufferLine, void> {
    return rowsOf(this.#terminal.buffer.normal);
  }

  /** The lines above the screen that are still kept. */
  *scrollback(): Generator<IBufferLine, void> {
    const { normal } = this.#terminal.buffer;
    yield* linesOf(normal, 0, normal.baseY);
  }

  /** The lines that have left the screen since the last time. */
  *departed(): Generator<IBufferLine, void> {
    const { normal, active } = this.#terminal.buffer;
    const isKnown = this.#taken && !this.#taken.isDisposed;
    yield* linesOf(normal, isKnown ? (this.#taken?.line ?? -1) + 1 : 0, normal.baseY);
    // A full-screen program moves nothing out of view, and has no such marks.
    if (active.type === 'alternate' || normal.baseY === 0) return;
    this.#taken?.dispose();
    this.#taken = this.#terminal.registerMarker(-normal.cursorY - 1);
  }

  resize(size: TerminalSize): void {
    const { rows, cols } = clamped(size);
    this.#terminal.resize(cols, rows);
  }

  /** Writes text in pieces small enough that no more lines depart with one of them than are kept. */
  async *write(text: string): AsyncGenerator<void, void> {
    const drawn = this.#drawable(text);
    for (let from = 0; from < drawn.length; ) {
      const to = this.#pieceEnd(drawn, from);
      await this.#put(drawn.slice(from, to));
      yield;
      from = to;
    }
  }

  /** Writes all of it, whatever departs meanwhile. */
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
      // Line feeds and the like, escapes that may act like one, and the J that erases the screen.
      lines += code < 0x20 || (code >= 0x80 && code < 0xa0) ? 1 : code === 0x4a ? rows : 2 / cols;
      if (lines > most && at > from) return at;
    }
    return end;
  }

  /** A few bytes must not keep us busy for hours. Beyond the size of the screen, no program means the number. */
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
