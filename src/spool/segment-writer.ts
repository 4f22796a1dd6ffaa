import { writeSync, writevSync } from 'node:fs';
import { ENTRY_BYTES } from './index-entry.js';
import type { Segment } from './segment.js';
import type { OpenPart, SegmentFiles } from './segment-files.js';

/** Chunks below this size on average are joined: that is cheaper than handing each to the system. */
const MIN_VECTOR_BYTES = 2048;
/** The system takes no more at a time. */
const MAX_VECTORS = 1024;

interface OpenSegment {
  readonly number: number;
  readonly data: OpenPart;
  readonly index: OpenPart;
}

/** Appends to the two parts of the newest segment. They are open only while there is something to write. */
export class SegmentWriter {
  readonly #files: SegmentFiles;
  #open: OpenSegment | undefined;

  constructor(files: SegmentFiles) {
    this.#files = files;
  }

  /** Output first: an entry of the index is never there without its output. */
  append(segment: Segment, chunks: readonly Uint8Array[], index: Uint8Array): void {
    const open = this.#opened(segment);
    writeAll(open.data, segment.dataBytes, chunks);
    writeAll(open.index, segment.entries * ENTRY_BYTES, [index]);
  }

  /** Idempotent. */
  close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    this.#files.close(open.data);
    this.#files.close(open.index);
  }

  #opened(segment: Segment): OpenSegment {
    if (this.#open?.number === segment.number) return this.#open;
    this.close();
    const data = this.#files.openToWrite(segment, 'data');
    try {
      const index = this.#files.openToWrite(segment, 'index');
      this.#open = { number: segment.number, data, index };
      return this.#open;
    } catch (error) {
      this.#files.close(data);
      throw error;
    }
  }
}

function writeAll({ descriptor, start, room }: OpenPart, at: number, chunks: readonly Uint8Array[]): void {
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  if (total === 0) return;
  if (at + total > room) throw new Error('There is more output than room in a segment.');
  const isJoined = total < chunks.length * MIN_VECTOR_BYTES || chunks.length > MAX_VECTORS;
  const vectors = isJoined ? [Buffer.concat(chunks, total)] : chunks;
  const position = start + at;
  const done = writevSync(descriptor, vectors as Uint8Array[], position);
  if (done === total) return;
  // The disk is nearly full, or a limit is near. The next call says so.
  const rest = Buffer.concat(chunks, total).subarray(done);
  for (let more = 0; more < rest.length; )
    more += writeSync(descriptor, rest, more, rest.length - more, position + done + more);
}
