/** The distance between marks: finding a line reads at most this much again. */
const SPACING_BYTES = 256 * 1024;
/** Beyond this, every second mark is dropped and the distance doubles. */
const MAX_MARKS = 1024;

/** The position where a line starts, and the number of lines before it. */
export interface LineMark {
  readonly position: number;
  readonly lines: number;
}

const BEGINNING: LineMark = { position: 0, lines: 0 };

/** Line starts in growing output, so that any line can be found without reading from the beginning. */
export class LineIndex {
  #marks: LineMark[] = [BEGINNING];
  #spacing = SPACING_BYTES;

  /** Records the start of a line if it is far enough from the last recorded one. */
  add(mark: LineMark): void {
    const last = this.#marks.at(-1) ?? BEGINNING;
    if (mark.position - last.position < this.#spacing) return;
    this.#marks.push(mark);
    if (this.#marks.length <= MAX_MARKS) return;
    this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
    this.#spacing *= 2;
  }

  /** The last mark at or before a line, counted from 1. */
  before(line: number): LineMark {
    let low = 0;
    let high = this.#marks.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#marks[middle] ?? BEGINNING).lines < line) low = middle;
      else high = middle;
    }
    return this.#marks[low] ?? BEGINNING;
  }
}
