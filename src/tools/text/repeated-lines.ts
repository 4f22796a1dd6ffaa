/** Fewer are shown as they are: a table or a few closing braces should look the way they were printed. */
const FEWEST = 10;

/** Joins lines to text, in which a line that repeats is shown once, with how often it came again. */
export class RepeatedLines {
  readonly #maxLineChars: number;
  #last: string | null = null;
  #more = 0;

  /** Lines of `maxLineChars` may have been cut, and differ where nobody sees it: they are never taken for the same. */
  constructor({ maxLineChars }: { maxLineChars: number }) {
    this.#maxLineChars = maxLineChars;
  }

  /** The text of these lines, except for what may turn out to repeat. */
  add(lines: readonly string[]): string {
    let text = '';
    for (const line of lines) {
      if (line === this.#last && line.length < this.#maxLineChars) {
        this.#more += 1;
      } else {
        text += `${this.end()}${line}\n`;
        this.#last = line;
      }
    }
    return text;
  }

  /** What was kept back. The next line is shown in any case. */
  end(): string {
    const [line, more] = [this.#last, this.#more];
    this.#last = null;
    this.#more = 0;
    return more < FEWEST ? `${line}\n`.repeat(more) : `[the same line ${more} more times]\n`;
  }
}
