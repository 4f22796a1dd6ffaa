import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { OutputStream } from '../contract/index.js';
import { ENTRY_BYTES } from './index-entry.js';
import { FILE_MODE } from './private-directory.js';
import { segmentFile } from './named-segment-files.js';
import type { Segment } from './segment.js';

/** Says which stream the output behind the last entry of the index belongs to, if it is not the usual one. */
const STREAM_FILE = 'stream';

/** Output must be readable where it is written, and its place is chosen: nothing is appended. */
const DATA = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
const INDEX = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;

/** The files of the newest segment of an output that may outlive its server. Open only while there is something to write. */
export class DurableFiles {
  readonly #directory: string;
  #open: { readonly number: number; readonly data: number; readonly index: number } | undefined;
  #stream: OutputStream;
  #marker: number | undefined;

  constructor(directory: string, usual: OutputStream) {
    this.#directory = directory;
    this.#stream = usual;
  }

  data(segment: Segment): number {
    return this.#files(segment).data;
  }

  /** Says whose output comes next. Once per change: most programs use one stream most of the time. */
  expect(stream: OutputStream): void {
    if (stream === this.#stream) return;
    this.#marker ??= openSync(join(this.#directory, STREAM_FILE), INDEX, FILE_MODE);
    writeSync(this.#marker, stream, 0);
    this.#stream = stream;
  }

  writeEntry(segment: Segment, entry: Uint8Array): void {
    const { index } = this.#files(segment);
    let done = writeSync(index, entry, 0, ENTRY_BYTES, segment.entries * ENTRY_BYTES);
    while (done < ENTRY_BYTES)
      done += writeSync(index, entry, done, ENTRY_BYTES - done, segment.entries * ENTRY_BYTES + done);
  }

  /** Idempotent. */
  close(): void {
    if (this.#marker !== undefined) closeSync(this.#marker);
    this.#marker = undefined;
    const files = this.#open;
    this.#open = undefined;
    if (!files) return;
    closeSync(files.data);
    closeSync(files.index);
  }

  /** The stream that an earlier server expected, and what it had not yet entered into the index of this segment. */
  unentered(segment: Segment): { stream: OutputStream; bytes: Uint8Array } {
    const path = join(this.#directory, STREAM_FILE);
    if (existsSync(path)) this.#stream = readFileSync(path, 'utf8') as OutputStream;
    const { data, index } = this.#files(segment);
    // A part of an entry is none.
    ftruncateSync(index, segment.entries * ENTRY_BYTES);
    const bytes = Buffer.alloc(Math.max(0, fstatSync(data).size - segment.dataBytes));
    for (let done = 0; done < bytes.length; )
      done += readSync(data, bytes, done, bytes.length - done, segment.dataBytes + done);
    return { stream: this.#stream, bytes };
  }

  /** Whether a segment has output, entered or not. */
  has(number: number): boolean {
    return existsSync(join(this.#directory, segmentFile(number, 'data')));
  }

  #files({ number }: Segment): { readonly data: number; readonly index: number } {
    if (this.#open?.number === number) return this.#open;
    this.close();
    const data = openSync(join(this.#directory, segmentFile(number, 'data')), DATA, FILE_MODE);
    try {
      const index = openSync(join(this.#directory, segmentFile(number, 'index')), INDEX, FILE_MODE);
      this.#open = { number, data, index };
      return this.#open;
    } catch (error) {
      closeSync(data);
      throw error;
    }
  }
}
