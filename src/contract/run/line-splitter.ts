import { ExecError } from '../../protocol/errors.js';

const NEWLINE = 0x0a;

/** Splits a stream of bytes into lines, without line endings. Holds one incomplete line, up to a limit. */
export class LineSplitter {
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  *push(bytes: Uint8Array): Generator<string> {
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      this.#keep(bytes.subarray(from, at));
      from = at + 1;
      yield this.#take();
    }
    if (from < bytes.length) this.#keep(bytes.slice(from));
  }

  /** The last line, if it has no line ending. */
  *rest(): Generator<string> {
    if (this.#bytes > 0) yield this.#take();
  }

  #keep(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      throw new ExecError(
        'lineTooLong',
        `A line of output is longer than ${this.#maxBytes} bytes; raise maxLineBytes, or use run().`,
        { data: { maxLineBytes: this.#maxBytes } },
      );
    }
    this.#pieces.push(piece);
  }

  #take(): string {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const last = this.#pieces.length - 1;
    const line = this.#pieces.map((piece, at) => decoder.decode(piece, { stream: at < last })).join('');
    this.#pieces = [];
    this.#bytes = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
