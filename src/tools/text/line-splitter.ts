/** A raw line longer than this counts as several: memory must not follow the output. */
const MAX_RAW_LINE_CHARS = 1024 * 1024;

/** Splits text into lines and leaves them as they are. */
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

  /** The line that has begun, if any. */
  end(): string | null {
    return this.#rest === '' ? null : this.#rest;
  }
}
