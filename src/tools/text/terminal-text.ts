/* oxlint-disable no-control-regex -- control characters are what this file is about */
import { readEscape } from './escape-sequence.js';
import { capLine, LineCanvas } from './line-canvas.js';

/** Everything that makes a line more than its characters. Tabs stay as they are. */
const SPECIAL = /[\x00-\x08\x0b-\x1f\x7f]/;
/** Most of what is special in most output, and nothing to see. */
const COLOURS = /\x1b\[[0-9;:]*m/g;
/** A sequence that holds text of its own: what looks like a colour there is not one. */
const STRING_START = /\x1b[\]PX^_]/;

/**
 * Turns what a program sent to a terminal into the lines a person would have seen: colours gone, progress bars in
 * their last state, typing mistakes corrected. Text goes in in pieces; memory stays at one capped line.
 */
export class TerminalText {
  readonly #maxChars: number;
  readonly #canvas: LineCanvas;
  readonly #emit: (line: string) => void;
  #pending = '';

  /** `emit` gets each finished line without its end. */
  constructor(options: { maxLineChars: number; emit: (line: string) => void }) {
    this.#maxChars = options.maxLineChars;
    this.#canvas = new LineCanvas(options.maxLineChars);
    this.#emit = options.emit;
  }

  /** Nothing of a line is there, not even the beginning of a control sequence. */
  get atLineStart(): boolean {
    return this.#canvas.empty && this.#pending === '';
  }

  /** A control sequence whose rest has not arrived. */
  get unfinished(): string {
    return this.#pending;
  }

  /** One that leaves behind what is drawn of the line so far and goes on from there. */
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

  /** The line that has begun, if any, as it stands. */
  end(): string | null {
    return this.#canvas.empty ? null : this.#canvas.text();
  }

  /** Whole lines. Most output is plain, and looking once at all of it is fast. */
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
    // A line end within an escape sequence ends the sequence.
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

  /** The cursor goes to another row: what stands in this one is done, as far as a list of lines can tell. */
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

/** Where a run of printable characters ends. */
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/g;

function plainEnd(text: string, from: number): number {
  CONTROL_CHARACTER.lastIndex = from + 1;
  return CONTROL_CHARACTER.exec(text)?.index ?? text.length;
}
