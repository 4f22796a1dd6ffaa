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
import { releaseSpace, takenBytes } from './reserved-space.js';
import type { Segment } from './segment.js';
import type { SpaceAhead } from './space-ahead.js';

/** Names the stream of output that has no index entry yet, if it is not the usual one. */
const STREAM_FILE = 'stream';

/** Output is read back from where it was written, and written at chosen positions instead of appended. */
const DATA = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
const INDEX = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;

/** The files of the newest segment of an output that may outlive its server. Open only while there is something to write. */
export class DurableFiles {
  readonly #directory: string;
  #open: { readonly number: number; readonly data: number; readonly index: number } | undefined;
  readonly #ahead: SpaceAhead;
  #stream: OutputStream;
  #marker: number | undefined;

  constructor(directory: string, usual: OutputStream, ahead: SpaceAhead) {
    this.#directory = directory;
    this.#stream = usual;
    this.#ahead = ahead;
  }

  /** The file for up to `bytes` of further output of a segment. */
  data(segment: Segment, bytes: number): number {
    const { data } = this.#files(segment);
    this.#ahead.reserveFor({ descriptor: data, start: 0 }, segment.dataBytes, bytes);
    return data;
  }

  /** Records which stream comes next. It is written only when it changes: most programs use one stream most of the time. */
  expect(stream: OutputStream): void {
    if (stream === this.#stream) return;
    this.#marker ??= openSync(join(this.#directory, STREAM_FILE), INDEX, FILE_MODE);
    writeSync(this.#marker, stream, 0);
    this.#stream = stream;
  }

  /** Adds the entry of output that is already in the file. */
  writeEntry(segment: Segment, entry: Uint8Array, bytes: number): void {
    this.#ahead.wrote(bytes);
    const { index } = this.#files(segment);
    let done = writeSync(index, entry, 0, ENTRY_BYTES, segment.entries * ENTRY_BYTES);
    while (done < ENTRY_BYTES)
      done += writeSync(index, entry, done, ENTRY_BYTES - done, segment.entries * ENTRY_BYTES + done);
  }

  /** Idempotent. */
  close(): void {
    this.#ahead.pause();
    this.#close();
  }

  #close(): void {
    if (this.#marker !== undefined) closeSync(this.#marker);
    this.#marker = undefined;
    const files = this.#open;
    this.#open = undefined;
    if (!files) return;
    // The kernel knows the end of the output, some of which we may not have seen.
    const end = fstatSync(files.data).size;
    if (this.#ahead.isBehind(end)) releaseSpace(files.data, end);
    closeSync(files.data);
    closeSync(files.index);
  }

  /** The stream that an earlier server expected, and the output it had not yet entered into the index of this segment. */
  unentered(segment: Segment): { stream: OutputStream; bytes: Uint8Array } {
    const path = join(this.#directory, STREAM_FILE);
    if (existsSync(path)) this.#stream = readFileSync(path, 'utf8') as OutputStream;
    const { data, index } = this.#files(segment);
    // Cuts off a partial entry.
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
    this.#close();
    const data = openSync(join(this.#directory, segmentFile(number, 'data')), DATA, FILE_MODE);
    try {
      const index = openSync(join(this.#directory, segmentFile(number, 'index')), INDEX, FILE_MODE);
      this.#open = { number, data, index };
      this.#ahead.begin(takenBytes(data));
      return this.#open;
    } catch (error) {
      closeSync(data);
      throw error;
    }
  }
}
