/** A longer raw line is split, to bound memory. */
const MAX_RAW_LINE_CHARS = 1024 * 1024;

/** Splits text into lines without changing them. */
export class LineSplitter {
  readonly #emit: (line: string) => void;
  #rest = '';

  constructor(emit: (line: string) => void) {
    this.#emit = emit;
  }

  write(piece: string): void {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#emit(line);
    if (this.#rest.length > MAX_RAW_LINE_CHARS) {
      this.#emit(this.#rest);
      this.#rest = '';
    }
  }

  /** The unfinished last line, if any. */
  end(): string | null {
    return this.#rest === '' ? null : this.#rest;
  }
}
