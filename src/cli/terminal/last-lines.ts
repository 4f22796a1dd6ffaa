/** A line is not remembered beyond this length. */
const MAX_LINE_CHARS = 64 * 1024;

/** Remembers the last lines of a text that comes in pieces. */
export class LastLines {
  readonly #count: number;
  #lines: string[] = [];
  #open = '';

  constructor(count: number) {
    this.#count = count;
  }

  add(text: string): void {
    if (this.#count === 0) return;
    const lines = (this.#open + text).split('\n');
    this.#open = (lines.pop() ?? '').slice(-MAX_LINE_CHARS);
    for (const line of lines) this.#lines.push(`${line}\n`);
    if (this.#lines.length > 2 * this.#count) this.#lines = this.#lines.slice(-this.#count);
  }

  text(): string {
    const open = this.#open === '' ? [] : [this.#open];
    return [...this.#lines, ...open].slice(-this.#count).join('');
  }
}
