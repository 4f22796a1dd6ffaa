import type { LineMark, OutputStream } from '../contract/index.js';
import { DurableFiles } from './durable-files.js';
import { ENTRY_BYTES, type EntryDraft, writeEntry } from './index-entry.js';
import { type LogTail, tailOf } from './log-tail.js';
import { NamedSegmentFiles } from './named-segment-files.js';
import { newlinesIn } from './newlines-in.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';
import type { ReserveSpace } from './reserved-space.js';
import { type Segment, SEGMENT_BYTES, sizeOf } from './segment.js';
import { SegmentReader } from './segment-reader.js';
import { SpaceAhead } from './space-ahead.js';
import { storedSegments } from './stored-segments.js';

/** Room for the largest chunk and its entry. */
const CHUNK_ROOM = 64 * 1024 + ENTRY_BYTES;
/** Disk space is requested in pieces of this size instead of for every chunk. */
const GRANT_BYTES = 1024 * 1024;

export interface DurableSegmentsOptions {
  readonly directory: string;
  /** The stream of most output. */
  readonly usualStream: OutputStream;
  readonly limitBytes: number;
  readonly owner: SpoolOwner;
  readonly quota: SpoolQuota;
  readonly reserve?: ReserveSpace | undefined;
}

/**
 * Segments whose output is written by others: they ask for a place, and once the output is there, its entry follows. All
 * methods throw on disk errors; after that, only `count` may be called.
 */
export class DurableSegments {
  readonly reader: SegmentReader;
  readonly #options: DurableSegmentsOptions;
  readonly #segmentBytes: number;
  readonly #named: NamedSegmentFiles;
  readonly #files: DurableFiles;
  readonly #slot = new Uint8Array(ENTRY_BYTES);
  readonly #slotView = new DataView(this.#slot.buffer);
  #segments: Segment[] = [];
  /** The segment for further output. It joins the others with its first entry. */
  #current: Segment | undefined;
  #newestNumber = 0;
  #lastSeq = 0;
  #counted: LineMark = { offset: 0, newlines: 0 };
  /** Disk space granted and not used yet. */
  #granted = 0;

  constructor(options: DurableSegmentsOptions) {
    this.#options = options;
    this.#segmentBytes = Math.min(SEGMENT_BYTES, Math.ceil(options.limitBytes / 4));
    this.#named = new NamedSegmentFiles(options.directory);
    const ahead = new SpaceAhead(options.reserve, this.#segmentBytes);
    this.#files = new DurableFiles(options.directory, options.usualStream, ahead);
    this.reader = new SegmentReader(this.#named, () => this.#segments);
  }

  /** The number of the last output. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** The end of all output, kept or not. */
  get counted(): LineMark {
    return this.#counted;
  }

  get usedBytes(): number {
    return this.#segments.reduce((sum, each) => sum + sizeOf(each), 0);
  }

  /** Loads what an earlier server wrote. */
  load(): void {
    this.#segments = storedSegments(this.#options.directory);
    this.#current = this.#segments.at(-1);
    this.#newestNumber = this.#current?.number ?? 0;
  }

  /** Continues after what was loaded. Returns the end of that server's log. */
  resume(retainedBytes: number): LogTail {
    const { points, tail, last } = tailOf(this.reader, retainedBytes);
    this.#lastSeq = last?.entry.seq ?? 0;
    const offset = last ? last.entry.offset + last.entry.length : 0;
    const newlines = (last?.entry.newlines ?? 0) + (last ? newlinesIn(last.bytes) : 0);
    this.#counted = { offset, newlines };
    return { points, tail, unentered: this.#unentered() };
  }

  /** Where the next chunk of a stream has to be written. */
  place(stream: OutputStream): { fd: number; position: number } {
    const segment = this.#roomFor(CHUNK_ROOM);
    this.#files.expect(stream);
    return { fd: this.#files.data(segment, CHUNK_ROOM), position: segment.dataBytes };
  }

  /** Adds the entry for what was written there. */
  enter(draft: EntryDraft): void {
    const segment = this.#current;
    if (!segment) return;
    writeEntry(this.#slotView, 0, draft, this.#counted.newlines);
    this.#files.writeEntry(segment, this.#slot, draft.length);
    const current = segment.entries === 0 ? this.#begin(segment, draft) : segment;
    current.entries += 1;
    current.dataBytes += draft.length;
    this.#granted -= draft.length + ENTRY_BYTES;
  }

  /** Counts a chunk, whether or not it has an entry. */
  count({ seq, offset, bytes }: Pick<EntryDraft, 'seq' | 'offset' | 'bytes'>): void {
    this.#lastSeq = seq;
    this.#counted = {
      offset: offset + bytes.length,
      newlines: this.#counted.newlines + newlinesIn(bytes),
    };
  }

  /** Call when what was written is gone or unreadable. */
  forget(): void {
    this.#segments = [];
  }

  closeWriter(): void {
    this.#files.close();
  }

  /** Closes the files. They are reopened when needed. */
  rest(): void {
    this.#files.close();
    this.reader.rest();
  }

  /** Output on disk without an entry. */
  #unentered(): LogTail['unentered'] {
    if (this.#files.has(this.#newestNumber + 1)) this.#current = this.#fresh();
    this.#current ??= this.#fresh();
    const { stream, bytes } = this.#files.unentered(this.#current);
    return bytes.length === 0 ? null : { stream, bytes };
  }

  #begin(segment: Segment, draft: EntryDraft): Segment {
    const { bytes: _, ...entry } = draft;
    const begun = { ...segment, first: { ...entry, newlines: this.#counted.newlines } };
    this.#current = begun;
    this.#segments.push(begun);
    return begun;
  }

  /** Deletes the oldest segments to stay within the limits, and returns the one to write to. */
  #roomFor(bytes: number): Segment {
    const newest = this.#current;
    const segment = newest && sizeOf(newest) < this.#segmentBytes ? newest : this.#fresh();
    this.#current = segment;
    for (;;) {
      const [oldest] = this.#segments;
      const fits = this.#hasRoom(bytes) && this.usedBytes + bytes <= this.#options.limitBytes;
      // The newest one always stays. It is not large, and nothing else outlives us.
      if (fits || !oldest || oldest === segment) return segment;
      this.#dropOldest(oldest);
    }
  }

  #hasRoom(bytes: number): boolean {
    if (this.#granted >= bytes) return true;
    const { owner, quota } = this.#options;
    const piece = Math.min(this.#segmentBytes, GRANT_BYTES);
    if (!quota.grow(owner, piece)) return false;
    this.#granted += piece;
    return true;
  }

  #fresh(): Segment {
    this.#newestNumber += 1;
    const seq = this.#lastSeq + 1;
    const first = { kind: 'stdout', seq, ...this.#counted, timeMs: 0, length: 0 } as const;
    return { number: this.#newestNumber, first, entries: 0, dataBytes: 0 };
  }

  #dropOldest(segment: Segment): void {
    this.#segments = this.#segments.slice(1);
    this.reader.rest();
    this.#options.quota.shrink(this.#options.owner, sizeOf(segment));
    this.#named.remove(segment);
  }
}
