import { readSync } from 'node:fs';
import type { ArchivedOutput } from '../contract/index.js';
import { ENTRY_BYTES, type IndexEntry, readEntry } from './index-entry.js';
import type { Segment } from './segment.js';
import type { OpenPart, SegmentFiles, SegmentPart } from './segment-files.js';

/** Entries read at a time, because most readers continue with the next one. */
const PAGE_ENTRIES = 128;
/** Small chunks are read together with what follows them. */
const WINDOW_BYTES = 128 * 1024;
/** Lines are read one by one, and usually several of them. */
const RAW_WINDOW_BYTES = 16 * 1024;

/** The place of an entry: the index of its segment, and its index in that segment. */
export interface Place {
  readonly segment: number;
  readonly entry: number;
}

/** A monotonic condition: every entry after the first match matches, too. */
export type Condition = (entry: IndexEntry) => boolean;

/** Finds and reads entries in a list of segments. Its files stay open from the first read until `rest`. */
export class SegmentReader {
  readonly #files: SegmentFiles;
  readonly #segments: () => readonly Segment[];
  /** Readers usually move forward, so only the files of one segment stay open. */
  #open: { readonly number: number; data?: OpenPart; index?: OpenPart } | undefined;
  #page:
    | { readonly segment: number; readonly start: number; readonly entries: readonly IndexEntry[] }
    | undefined;
  /** For `raw`, which is called many times in a row. */
  #scratch: Buffer | undefined;
  /** The content of the scratch buffer. */
  #raw: { readonly segment: number; readonly start: number; readonly end: number } | undefined;
  #window: { readonly segment: number; readonly start: number; readonly bytes: Buffer } | undefined;

  constructor(files: SegmentFiles, segments: () => readonly Segment[]) {
    this.#files = files;
    this.#segments = segments;
  }

  /** The first entry that meets the condition. */
  find(condition: Condition): Place | undefined {
    const segments = this.#segments();
    const near = this.#findInPage(condition);
    if (near) return near;
    let segment = firstTrue(segments.length, (index) => condition(firstOf(segments, index)));
    // The previous segment starts too early but may contain the entry.
    if (segment > 0) {
      const count = segments[segment - 1]?.entries ?? 0;
      const inside = segment - 1;
      const entry = firstTrue(count, (index) => condition(this.#single({ segment: inside, entry: index })));
      if (entry < count) return { segment: inside, entry };
    }
    return segment < segments.length ? { segment, entry: 0 } : undefined;
  }

  entryAt(place: Place): IndexEntry | undefined {
    const segment = this.#segments()[place.segment];
    if (!segment || place.entry >= segment.entries) return undefined;
    const page = this.#page;
    if (page?.segment === segment.number) {
      const entry = page.entries[place.entry - page.start];
      if (entry) return entry;
    }
    // Includes the previous entry, so that `find` can tell from this page that the entry is the first match.
    const start = Math.max(0, place.entry - 1);
    const count = Math.min(PAGE_ENTRIES, segment.entries - start);
    const bytes = this.#read(segment, 'index', { at: start * ENTRY_BYTES, length: count * ENTRY_BYTES });
    const entries = Array.from({ length: count }, (_, index) => readEntry(bytes, index * ENTRY_BYTES));
    this.#page = { segment: segment.number, start, entries };
    return entries[place.entry - start];
  }

  /** The previous place. */
  before({ segment, entry }: Place): Place | undefined {
    if (entry > 0) return { segment, entry: entry - 1 };
    const previous = this.#segments()[segment - 1];
    return previous && { segment: segment - 1, entry: previous.entries - 1 };
  }

  /** The next place. */
  behind({ segment, entry }: Place): Place {
    const isLast = entry + 1 >= (this.#segments()[segment]?.entries ?? 0);
    return isLast ? { segment: segment + 1, entry: 0 } : { segment, entry: entry + 1 };
  }

  /** The first chunk of output at or after a place. */
  output(place: Place | undefined): (ArchivedOutput & { readonly place: Place }) | undefined {
    for (let at = place; at; at = this.behind(at)) {
      const entry = this.entryAt(at);
      const segment = this.#segments()[at.segment];
      if (!entry || !segment) return undefined;
      const { kind: stream, seq, offset, timeMs, length } = entry;
      if (stream === 'resize') continue;
      const bytes = this.#data(segment, { at: offset - segment.first.offset, length });
      return { seq, offset, timeMs, stream, bytes, place: at };
    }
    return undefined;
  }

  /** Output by its position in the data of a segment. The next call reuses its memory. */
  raw(segment: Segment, at: number, length: number): Uint8Array {
    const known = this.#raw;
    if (this.#scratch && known?.segment === segment.number && at >= known.start && at + length <= known.end)
      return this.#scratch.subarray(at - known.start, at - known.start + length);
    const most = Math.max(length, Math.min(RAW_WINDOW_BYTES, segment.dataBytes - at));
    const old = this.#scratch;
    const scratch = old && old.length >= most ? old : Buffer.allocUnsafeSlow(most);
    this.#raw = undefined;
    this.#read(segment, 'data', { at, length: most }, scratch);
    this.#scratch = scratch;
    this.#raw = { segment: segment.number, start: at, end: at + most };
    return scratch.subarray(0, length);
  }

  get segments(): readonly Segment[] {
    return this.#segments();
  }

  /** Closes the files and discards what was read. The next read reopens them. */
  rest(): void {
    for (const part of [this.#open?.data, this.#open?.index]) if (part) this.#files.close(part);
    this.#open = undefined;
    this.#page = undefined;
    this.#window = undefined;
    this.#scratch = undefined;
    this.#raw = undefined;
  }

  /** Whether there is anything `rest` would release. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  #findInPage(condition: Condition): Place | undefined {
    const page = this.#page;
    const [first, last] = [page?.entries[0], page?.entries.at(-1)];
    if (!page || !first || !last || condition(first) || !condition(last)) return undefined;
    const segment = this.#segments().findIndex(({ number }) => number === page.segment);
    const { entries, start } = page;
    const entry = start + firstTrue(entries.length, (index) => condition(entries[index] ?? last));
    return segment < 0 ? undefined : { segment, entry };
  }

  #single({ segment: position, entry }: Place): IndexEntry {
    const segment = this.#segments()[position];
    if (!segment) throw new Error('no such segment');
    return readEntry(this.#read(segment, 'index', { at: entry * ENTRY_BYTES, length: ENTRY_BYTES }), 0);
  }

  #data(segment: Segment, { at, length }: { at: number; length: number }): Uint8Array {
    const known = this.#window;
    if (
      known?.segment === segment.number &&
      at >= known.start &&
      at + length <= known.start + known.bytes.length
    )
      return known.bytes.subarray(at - known.start, at - known.start + length);
    if (length >= WINDOW_BYTES / 4) return this.#read(segment, 'data', { at, length });
    const most = Math.min(WINDOW_BYTES, segment.dataBytes - at);
    const bytes = this.#read(segment, 'data', { at, length: most });
    this.#window = { segment: segment.number, start: at, bytes };
    return bytes.subarray(0, length);
  }

  #read(
    segment: Segment,
    part: SegmentPart,
    { at, length }: { at: number; length: number },
    bytes: Buffer = Buffer.allocUnsafeSlow(length),
  ): Buffer {
    const { descriptor, start } = this.#opened(segment, part);
    for (let done = 0; done < length; ) {
      const count = readSync(descriptor, bytes, done, length - done, start + at + done);
      if (count === 0) throw new Error('the file is shorter than its index says');
      done += count;
    }
    return bytes;
  }

  #opened(segment: Segment, part: SegmentPart): OpenPart {
    const known = this.#open?.number === segment.number ? this.#open[part] : undefined;
    if (known) return known;
    if (this.#open?.number !== segment.number) this.rest();
    const opened = this.#files.openToRead(segment, part);
    this.#open ??= { number: segment.number };
    this.#open[part] = opened;
    return opened;
  }
}

function firstOf(segments: readonly Segment[], index: number): IndexEntry {
  const segment = segments[index];
  if (!segment) throw new Error('no such segment');
  return segment.first;
}

/** The first number below `count` that meets a monotonic condition; `count` if none does. */
function firstTrue(count: number, condition: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (condition(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
