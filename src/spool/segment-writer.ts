import { write, writeSync, writev, writevSync } from 'node:fs';
import { promisify } from 'node:util';
import { ENTRY_BYTES } from './index-entry.js';
import { releaseSpace, type ReserveSpace } from './reserved-space.js';
import type { Segment } from './segment.js';
import type { OpenPart, SegmentFiles, SegmentPart } from './segment-files.js';
import { SpaceAhead } from './space-ahead.js';

/** Chunks below this average size are joined, which is cheaper than passing each to the system. */
const MIN_VECTOR_BYTES = 2048;
/** The most buffers the system accepts in one call. */
const MAX_VECTORS = 1024;

const writeLater = promisify(write);
const writevLater = promisify(writev);

/** An addition to a segment. */
interface Addition {
  /** Where the chunks go in its data. */
  readonly at: number;
  readonly chunks: readonly Uint8Array[];
  /** The new index entries. */
  readonly index: Uint8Array;
}

interface OpenSegment {
  readonly number: number;
  readonly data: OpenPart;
  readonly index: OpenPart;
  /** The end of the data. */
  end: number;
}

/** Appends to the two parts of the newest segment. They are open only while there is something to write. */
export class SegmentWriter {
  readonly #files: SegmentFiles;
  readonly #ahead: SpaceAhead;
  #open: OpenSegment | undefined;

  constructor(files: SegmentFiles, segmentBytes: number, reserve?: ReserveSpace) {
    this.#files = files;
    this.#ahead = new SpaceAhead(reserve, segmentBytes);
  }

  /** Writes output first, so that an index entry never exists without its output. */
  append(segment: Segment, { at, chunks, index }: Addition): void {
    const open = this.#opened(segment);
    const bytes = totalOf(chunks);
    this.#ahead.reserveFor(open.data, at, bytes);
    writeAll(open.data, at, chunks);
    open.end = at + bytes;
    writeAll(open.index, segment.entries * ENTRY_BYTES, [index]);
    this.#ahead.wrote(bytes);
  }

  /** The same, asynchronously. */
  async appendLater(segment: Segment, { at, chunks, index }: Addition): Promise<void> {
    await this.#writePart(segment, 'data', { at, chunks });
    await this.#writePart(segment, 'index', { at: segment.entries * ENTRY_BYTES, chunks: [index] });
  }

  /** Idempotent. */
  close(): void {
    this.#ahead.pause();
    this.#closeFiles();
  }

  #closeFiles(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return;
    if (this.#ahead.isBehind(open.end)) releaseSpace(open.data.descriptor, open.end);
    this.#files.close(open.data);
    this.#files.close(open.index);
  }

  async #writePart(
    segment: Segment,
    name: SegmentPart,
    { at, chunks }: { at: number; chunks: readonly Uint8Array[] },
  ): Promise<void> {
    const part = this.#files.openToWrite(segment, name);
    try {
      await writeAllLater(part, at, chunks);
    } finally {
      this.#files.close(part);
    }
  }

  #opened(segment: Segment): OpenSegment {
    if (this.#open?.number === segment.number) return this.#open;
    this.#closeFiles();
    const data = this.#files.openToWrite(segment, 'data');
    try {
      const index = this.#files.openToWrite(segment, 'index');
      this.#open = { number: segment.number, data, index, end: segment.dataBytes };
      this.#ahead.begin(data.taken);
      return this.#open;
    } catch (error) {
      this.#files.close(data);
      throw error;
    }
  }
}

function writeAll(part: OpenPart, at: number, chunks: readonly Uint8Array[]): void {
  const total = requireRoom(part, at, chunks);
  if (total === 0) return;
  const position = part.start + at;
  let done = writevSync(part.descriptor, vectorsOf(chunks, total), position);
  if (done === total) return;
  // A short write: the disk is nearly full, or a limit is near. The next call reports the error.
  const whole = Buffer.concat(chunks, total);
  while (done < total) done += writeSync(part.descriptor, whole, done, total - done, position + done);
}

async function writeAllLater(part: OpenPart, at: number, chunks: readonly Uint8Array[]): Promise<void> {
  const total = requireRoom(part, at, chunks);
  const position = part.start + at;
  let { bytesWritten: done } = await writevLater(part.descriptor, vectorsOf(chunks, total), position);
  if (done === total) return;
  const whole = Buffer.concat(chunks, total);
  while (done < total) {
    const more = await writeLater(part.descriptor, whole, done, total - done, position + done);
    done += more.bytesWritten;
  }
}

/** Returns the total size. Throws if it does not fit. */
function requireRoom({ room }: OpenPart, at: number, chunks: readonly Uint8Array[]): number {
  const total = totalOf(chunks);
  if (at + total > room) throw new Error('There is more output than room in a segment.');
  return total;
}

function totalOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

function vectorsOf(chunks: readonly Uint8Array[], total: number): Uint8Array[] {
  const isJoined = total < chunks.length * MIN_VECTOR_BYTES || chunks.length > MAX_VECTORS;
  // Only the type differs; nothing is modified.
  return isJoined ? [Buffer.concat(chunks, total)] : (chunks as Uint8Array[]);
}
