import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { libc, linux } from '../kernel/index.js';

const FILE_MODE = 0o600;
/** Not through a link, and never over an existing file. */
const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const CLOSED = 'close';

/** What an index says about the input before us. */
export interface InputRecord {
  /** Ids of writes whose input is complete, oldest first. */
  readonly writes: readonly string[];
  /** No more input was to come. */
  readonly closed: boolean;
}

/**
 * Input on its way to a program, in two files: the bytes, whose file position says how much the program was given, and an
 * index that says which writes they came from. A write is in the index first; one whose bytes are not complete never
 * happened.
 */
export class InputFile {
  /** Its descriptor; the position is shared with every copy of it. */
  readonly data: number;
  readonly #index: number;
  #size: number;
  #indexSize: number;

  private constructor(data: number, index: number, sizes: { size: number; indexSize: number }) {
    this.data = data;
    this.#index = index;
    this.#size = sizes.size;
    this.#indexSize = sizes.indexSize;
  }

  static create(path: string): InputFile {
    // Left by a server that was killed before it recorded the file.
    removeInput(path);
    const data = openSync(`${path}.input`, CREATE, FILE_MODE);
    try {
      return new InputFile(data, openSync(`${path}.writes`, CREATE, FILE_MODE), { size: 0, indexSize: 0 });
    } catch (error) {
      closeSync(data);
      throw error;
    }
  }

  /** Continues where another server was killed. Owns the descriptor. */
  static resume(path: string, data: number): { file: InputFile; record: InputRecord } {
    const index = openSync(`${path}.writes`, constants.O_RDWR | constants.O_NOFOLLOW);
    const { writes, closed, size, indexSize } = complete(readFileSync(index, 'utf8'), fstatSync(data).size);
    ftruncateSync(data, size);
    ftruncateSync(index, indexSize);
    return { file: new InputFile(data, index, { size, indexSize }), record: { writes, closed } };
  }

  get size(): number {
    return this.#size;
  }

  /** How much the program was given. */
  delivered(): number {
    return libc().lseek(this.data, 0, linux.SEEK_CUR);
  }

  /** Adds input. If it cannot be written, throws and changes nothing. */
  append(bytes: Uint8Array, id: string): void {
    const line = Buffer.from(`${bytes.length} ${JSON.stringify(id)}\n`);
    try {
      writeAll(this.#index, line, this.#indexSize);
      writeAll(this.data, bytes, this.#size);
    } catch (error) {
      ftruncateSync(this.data, this.#size);
      ftruncateSync(this.#index, this.#indexSize);
      throw error;
    }
    this.#indexSize += line.length;
    this.#size += bytes.length;
  }

  /** No more input is to come. */
  appendClose(): void {
    const line = Buffer.from(`${CLOSED}\n`);
    writeAll(this.#index, line, this.#indexSize);
    this.#indexSize += line.length;
  }

  close(): void {
    closeSync(this.data);
    closeSync(this.#index);
  }
}

/** Write ids in a file to which nothing will be added. */
export function writesIn(path: string): readonly string[] {
  try {
    return complete(readFileSync(`${path}.writes`, 'utf8'), statSync(`${path}.input`).size).writes;
  } catch {
    return [];
  }
}

export function removeInput(path: string): void {
  for (const kind of ['input', 'writes']) rmSync(`${path}.${kind}`, { force: true });
}

/** The part of an index that has its bytes. */
function complete(text: string, dataSize: number): InputRecord & { size: number; indexSize: number } {
  const writes: string[] = [];
  let [closed, size, indexSize] = [false, 0, 0];
  for (const line of text.split('\n').slice(0, -1)) {
    const space = line.indexOf(' ');
    const length = line === CLOSED ? 0 : Number(line.slice(0, space));
    if (size + length > dataSize) break;
    if (line === CLOSED) closed = true;
    else writes.push(String(JSON.parse(line.slice(space + 1))));
    size += length;
    indexSize += Buffer.byteLength(line) + 1;
  }
  return { writes, closed, size, indexSize };
}

/** At a position, because the position of the file itself belongs to the program that reads it. */
function writeAll(fd: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, at + done);
}
