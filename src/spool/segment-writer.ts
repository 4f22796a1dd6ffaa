import { closeSync, constants, openSync, writeSync, writevSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE } from './private-directory.js';
import { type Segment, segmentFile } from './segment.js';

/** Chunks below this size on average are joined: that is cheaper than handing each to the system. */
const MIN_VECTOR_BYTES = 2048;
/** The system takes no more at a time. */
const MAX_VECTORS = 1024;

/** Not through a link, which nobody but us could have put there, and never over an existing file. */
const CREATE =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const CONTINUE = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/** Appends to the two files of the newest segment. They are open only while there is something to write. */
export class SegmentWriter {
  readonly #directory: string;
  #open: { readonly number: number; readonly data: number; readonly index: number } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Output first: an entry of the index is never there without its output. */
  append(segment: Segment, chunks: readonly Uint8Array[], index: Uint8Array): void {
    const files = this.#files(segment);
    writeAll(files.data, chunks);
    writeAll(files.index, [index]);
  }

  /** Idempotent. */
  close(): void {
    const files = this.#open;
    this.#open = undefined;
    if (!files) return;
    closeSync(files.data);
    closeSync(files.index);
  }

  #files(segment: Segment): { readonly data: number; readonly index: number } {
    if (this.#open?.number === segment.number) return this.#open;
    this.close();
    const flags = segment.entries === 0 ? CREATE : CONTINUE;
    const data = openSync(join(this.#directory, segmentFile(segment.number, 'data')), flags, FILE_MODE);
    try {
      const index = openSync(join(this.#directory, segmentFile(segment.number, 'index')), flags, FILE_MODE);
      this.#open = { number: segment.number, data, index };
      return this.#open;
    } catch (error) {
      closeSync(data);
      throw error;
    }
  }
}

function writeAll(fd: number, chunks: readonly Uint8Array[]): void {
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  if (total === 0) return;
  const isJoined = total < chunks.length * MIN_VECTOR_BYTES || chunks.length > MAX_VECTORS;
  const vectors = isJoined ? [Buffer.concat(chunks, total)] : chunks;
  const done = writevSync(fd, vectors as Uint8Array[]);
  if (done === total) return;
  // The disk is nearly full, or a limit is near. The next call says so.
  const rest = Buffer.concat(chunks, total).subarray(done);
  for (let at = 0; at < rest.length; ) at += writeSync(fd, rest, at);
}
