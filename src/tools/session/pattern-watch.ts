import { type LinePattern, matchingLines } from '../../lines/index.js';
import { TerminalText } from '../text/terminal-text.js';
import type { ToolSession } from './tool-session.js';

/** Searches a session's output for a pattern, starting with its unread output, without consuming any. */
export class PatternWatch {
  readonly #session: ToolSession;
  readonly #pattern: LinePattern;
  readonly #signal: AbortSignal;
  readonly #decoder = new TextDecoder();
  readonly #text: TerminalText;
  #lines: string[] = [];
  #position: number;
  #checking: Promise<string | null> = Promise.resolve(null);

  constructor(options: {
    session: ToolSession;
    pattern: LinePattern;
    maxLineChars: number;
    signal: AbortSignal;
  }) {
    this.#session = options.session;
    this.#pattern = options.pattern;
    this.#signal = options.signal;
    this.#position = options.session.cursor;
    this.#text = new TerminalText({
      maxLineChars: options.maxLineChars,
      emit: (line) => void this.#lines.push(line),
    });
  }

  /** Returns the first matching line since the last check, or null. */
  check(): Promise<string | null> {
    this.#checking = this.#checking.then((found) => found ?? this.#check());
    return this.#checking;
  }

  async #check(): Promise<string | null> {
    const { transcript } = this.#session;
    const to = transcript.end;
    for await (const piece of transcript.read(this.#position, to)) {
      if (piece.kind === 'bytes') this.#text.write(this.#decoder.decode(piece.bytes, { stream: true }));
      // Text on either side of a gap is not one line.
      else this.#text.write(`${this.#decoder.decode()}\n`);
      const found = await this.#firstMatch(this.#lines);
      this.#lines = [];
      if (found !== null) return found;
    }
    this.#position = to;
    // A prompt has no newline, so the unfinished line counts too.
    return await this.#firstMatch([this.#text.end() ?? '']);
  }

  async #firstMatch(lines: readonly string[]): Promise<string | null> {
    if (lines.length === 0) return null;
    const [first] = await matchingLines(this.#pattern, lines, this.#signal);
    return first === undefined ? null : (lines[first] ?? '');
  }
}
