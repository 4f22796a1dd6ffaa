/* oxlint-disable no-control-regex -- control characters are what this file is about */
import { readEscape } from './escape-sequence.js';
import { capLine, LineCanvas } from './line-canvas.js';

/** Characters that change how a line looks. Tabs are kept. */
const SPECIAL = /[\x00-\x08\x0b-\x1f\x7f]/;
/** The most common control sequences, and invisible. */
const COLOURS = /\x1b\[[0-9;:]*m/g;
/** Starts a sequence that contains text: what looks like a colour in it is not one. */
const STRING_START = /\x1b[\]PX^_]/;

/**
 * Turns terminal output into the lines a person would have seen: no colours, progress bars in their final state,
 * typing mistakes corrected. Takes text in pieces and keeps one capped line in memory.
 */
export class TerminalText {
  readonly #maxChars: number;
  readonly #canvas: LineCanvas;
  readonly #emit: (line: string) => void;
  #pending = '';

  /** `emit` is called with each finished line, without its newline. */
  constructor(options: { maxLineChars: number; emit: (line: string) => void }) {
    this.#maxChars = options.maxLineChars;
    this.#canvas = new LineCanvas(options.maxLineChars);
    this.#emit = options.emit;
  }

  /** The current line is empty, without even the start of a control sequence. */
  get atLineStart(): boolean {
    return this.#canvas.empty && this.#pending === '';
  }

  /** The start of a control sequence whose rest has not arrived. */
  get unfinished(): string {
    return this.#pending;
  }

  /** Returns a copy that continues here with an empty line. */
  fork(emit: (line: string) => void): TerminalText {
    const fork = new TerminalText({ maxLineChars: this.#maxChars, emit });
    fork.#pending = this.#pending;
    return fork;
  }

  write(piece: string): void {
    const text = this.#pending + piece;
    this.#pending = '';
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) this.#lines(text.slice(0, end));
    this.#draw(text.slice(end));
  }

  /** The unfinished last line as it looks now, if any. */
  end(): string | null {
    return this.#canvas.empty ? null : this.#canvas.text();
  }

  /** Writes whole lines. Most output is plain, and one check of the whole text is fast. */
  #lines(text: string): void {
    const joined = withoutColours(text.includes('\r') ? text.replaceAll('\r\n', '\n') : text);
    const plain = !SPECIAL.test(joined);
    const lines = joined.split('\n');
    lines.pop();
    for (const line of lines) {
      if (this.#canvas.empty && (plain || !SPECIAL.test(line))) this.#emit(capLine(line, this.#maxChars));
      else this.#drawLine(line);
    }
  }

  #drawLine(line: string): void {
    this.#draw(line);
    // A newline ends an unfinished escape sequence.
    this.#pending = '';
    this.#finishLine();
  }

  #draw(text: string): void {
    for (let index = 0; index < text.length; ) {
      const code = text.charCodeAt(index);
      if (code === 0x1b) {
        const { escape, end } = readEscape(text, index);
        if (escape.kind === 'incomplete') this.#pending = text.slice(index);
        if (escape.kind === 'control' && !this.#canvas.control(escape.final, escape.parameters)) {
          this.#leaveLine(escape.final, escape.parameters);
        }
        index = end;
      } else if (code < 0x20 || code === 0x7f) {
        this.#controlCharacter(code);
        index += 1;
      } else {
        const end = plainEnd(text, index);
        this.#canvas.put(text.slice(index, end));
        index = end;
      }
    }
  }

  #controlCharacter(code: number): void {
    if (code === 0x0d) this.#canvas.carriageReturn();
    else if (code === 0x08) this.#canvas.backspace();
    else if (code === 0x09) this.#canvas.tab();
  }

  /** The cursor moves to another row. In a list of lines, the current one is then finished. */
  #leaveLine(final: string, parameters: readonly number[]): void {
    if (!this.#canvas.empty) this.#finishLine();
    if (final === 'H' || final === 'f') this.#canvas.moveTo((parameters[1] || 1) - 1);
  }

  #finishLine(): void {
    this.#emit(this.#canvas.text().trimEnd());
    this.#canvas.clear();
  }
}

function withoutColours(text: string): string {
  return text.includes('\x1b[') && !STRING_START.test(text) ? text.replace(COLOURS, '') : text;
}

/** Ends a run of printable characters. */
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/g;

function plainEnd(text: string, from: number): number {
  CONTROL_CHARACTER.lastIndex = from + 1;
  return CONTROL_CHARACTER.exec(text)?.index ?? text.length;
}
