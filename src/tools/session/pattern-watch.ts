import type { SafePattern } from '../text/safe-pattern.js';
import { TerminalText } from '../text/terminal-text.js';
import type { ToolSession } from './tool-session.js';

/** Looks for a pattern in what a session prints, from its unread output on, without taking any of it. */
export class PatternWatch {
  readonly #session: ToolSession;
  readonly #pattern: SafePattern;
  readonly #decoder = new TextDecoder();
  readonly #text: TerminalText;
  #lines: string[] = [];
  #position: number;
  #looking: Promise<string | null> = Promise.resolve(null);

  constructor(options: { session: ToolSession; pattern: SafePattern; maxLineChars: number }) {
    this.#session = options.session;
    this.#pattern = options.pattern;
    this.#position = options.session.cursor;
    this.#text = new TerminalText({
      maxLineChars: options.maxLineChars,
      emit: (line) => void this.#lines.push(line),
    });
  }

  /** The first line that matches among those that came since the last look; null if none does. */
  look(): Promise<string | null> {
    this.#looking = this.#looking.then((found) => found ?? this.#look());
    return this.#looking;
  }

  async #look(): Promise<string | null> {
    const { transcript } = this.#session;
    const to = transcript.end;
    for await (const piece of transcript.read(this.#position, to)) {
      if (piece.kind === 'bytes') this.#text.write(this.#decoder.decode(piece.bytes, { stream: true }));
      // What is before a hole and what is behind it are not one line.
      else this.#text.write(`${this.#decoder.decode()}\n`);
      const found = this.#firstMatch(this.#lines);
      this.#lines = [];
      if (found !== null) return found;
    }
    this.#position = to;
    // A prompt has no line end: the line that has begun counts as it stands.
    return this.#firstMatch([this.#text.end() ?? '']);
  }

  #firstMatch(lines: readonly string[]): string | null {
    if (lines.length === 0) return null;
    const [first] = this.#pattern.matches(lines);
    return first === undefined ? null : (lines[first] ?? '');
  }
}
