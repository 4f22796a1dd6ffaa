import type { FileHandle } from '../../contract/index.js';
import { ExecError } from '../../protocol/index.js';
import type { LineBatch } from '../session/output-lines.js';
import { LineSplitter } from '../text/line-splitter.js';

const BLOCK_BYTES = 256 * 1024;
/** Text files are smaller. For larger files the beginning shows what they are. */
export const MAX_READ_BYTES = 64 * 1024 * 1024;

/** The lines of a text file, up to a line number. Stops at `MAX_READ_BYTES` and throws for binary files. */
export class FileLines {
  /** The whole file was read, so all its lines are counted. */
  complete = false;
  readonly #handle: FileHandle;
  readonly #lastLine: number;

  constructor(handle: FileHandle, lastLine: number) {
    this.#handle = handle;
    this.#lastLine = lastLine;
  }

  async *batches(): AsyncGenerator<LineBatch, void> {
    const decoder = new TextDecoder();
    let lines: string[] = [];
    let count = 0;
    const splitter = new LineSplitter((line) => void lines.push(line));
    for (let offset = 0; offset < MAX_READ_BYTES && count <= this.#lastLine && !this.complete; ) {
      const { bytes, eof } = await this.#handle.read(offset, BLOCK_BYTES);
      if (offset === 0 && bytes.includes(0)) throw binaryFile();
      offset += bytes.length;
      splitter.write(decoder.decode(bytes, { stream: !eof }));
      this.complete = eof || bytes.length === 0;
      count += lines.length;
      yield { lines, complete: true };
      lines = [];
    }
    const rest = this.complete ? splitter.end() : null;
    if (rest !== null) yield { lines: [rest], complete: false };
  }
}

function binaryFile(): ExecError {
  return new ExecError('invalidFile', 'This is a binary file; inspect it with a command instead.');
}
