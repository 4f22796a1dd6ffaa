/** Output between two marks: what has to be read again at most to find a line. */
const SPACING_BYTES = 256 * 1024;
/** Past this number every second mark goes, and new ones keep twice the distance. */
const MAX_MARKS = 1024;

/** A position where a line starts, and how many lines are before it. */
export interface LineMark {
  readonly position: number;
  readonly lines: number;
}

const BEGINNING: LineMark = { position: 0, lines: 0 };

/** Where lines start in a growing output: finds any of them without reading from the beginning. */
export class LineIndex {
  #marks: LineMark[] = [BEGINNING];
  #spacing = SPACING_BYTES;

  /** Takes note of the start of a line, if the last one noted is far enough away. */
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
