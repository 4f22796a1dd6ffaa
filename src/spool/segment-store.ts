import type { LineMark } from '../contract/index.js';
import { ENTRY_BYTES, type EntryDraft, writeEntry } from './index-entry.js';
import { newlinesIn } from './newlines-in.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';
import type { ReserveSpace } from './reserved-space.js';
import { type Segment, sizeOf } from './segment.js';
import type { SegmentFiles } from './segment-files.js';
import { SegmentReader } from './segment-reader.js';
import { SegmentWriter } from './segment-writer.js';
import { type Cut, cutAtBoundary } from './write-boundary.js';

export interface StoreOptions {
  readonly files: SegmentFiles;
  /** The owner of this share of the quota. */
  readonly owner: SpoolOwner;
  readonly quota: SpoolQuota;
  /** The most output kept. */
  readonly limitBytes: number;
  /** A segment that reaches this size is full. */
  readonly segmentBytes: number;
  readonly reserve?: ReserveSpace | undefined;
  /** How much of the beginning stays when other output is deleted. Default: none. */
  readonly headBytes?: number;
}

interface WritePlan {
  readonly target: Segment;
  /** Where the chunks go in its data. */
  readonly at: number;
  readonly chunks: readonly Uint8Array[];
  readonly index: Uint8Array;
  /** The length of the output in the index. */
  readonly dataBytes: number;
  /** Written of the next output as well. */
  readonly partBytes: number;
  /** Up to the end of what is to be written. */
  readonly newlines: number;
}

/** If the quota has no room for the whole head, the head shrinks to this part of what there is. */
const SMALL_HEAD = 1 / 4;

/** The output of one process in segments, within limits. Beyond them, the oldest segment after the head is deleted. */
export class SegmentStore {
  readonly reader: SegmentReader;
  readonly #options: StoreOptions;
  readonly #writer: SegmentWriter;
  #segments: Segment[] = [];
  #newestNumber = 0;
  #headBytes: number;
  #usedBytes = 0;
  #isForgotten = false;
  #counted: LineMark = { offset: 0, newlines: 0 };
  /** The part of the next output that is already in a segment. */
  #part: { readonly segment: Segment; readonly bytes: number } | undefined;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#headBytes = options.headBytes ?? 0;
    this.#writer = new SegmentWriter(options.files, options.segmentBytes, options.reserve);
    this.reader = new SegmentReader(options.files, () => this.#segments);
  }

  /** The end of all output it was given, kept or not. */
  get counted(): LineMark {
    return this.#counted;
  }

  /** The amount of output that can be read. */
  get keptBytes(): number {
    return this.#segments.reduce((sum, { dataBytes }) => sum + dataBytes, 0);
  }

  /** Appends output. Throws on failure; after that, only `count` may be called. */
  write(drafts: readonly EntryDraft[]): void {
    this.#writeNow(this.#plan(drafts, { whole: drafts.length, part: 0 }));
  }

  /**
   * The same, but only up to a boundary in the file if there is one, which is cheaper. Returns how many drafts it has written,
   * and how much of the next one. That one and all after it must be passed again.
   */
  writeToBoundary(drafts: readonly EntryDraft[]): Cut {
    const cut = cutAtBoundary(drafts, this.#unfilled?.dataBytes ?? 0);
    this.#writeNow(this.#plan(drafts, cut));
    return cut;
  }

  #writeNow(plan: WritePlan): void {
    this.#writer.append(plan.target, plan);
    this.#written(plan);
  }

  /** Writes asynchronously. One call at a time. */
  async writeLater(drafts: readonly EntryDraft[]): Promise<void> {
    const plan = this.#plan(drafts, { whole: drafts.length, part: 0 });
    await this.#writer.appendLater(plan.target, plan);
    if (!this.#isForgotten) this.#written(plan);
  }

  /** Makes room, and decides what to write where. */
  #plan(drafts: readonly EntryDraft[], { whole, part }: Cut): WritePlan {
    const entered = drafts.slice(0, whole);
    const dataBytes = entered.reduce((sum, { length }) => sum + length, 0);
    const bytes = dataBytes + whole * ENTRY_BYTES;
    const target = this.#current(bytes) ?? this.#nextSegment(entered, bytes);
    const index = new Uint8Array(whole * ENTRY_BYTES);
    const view = new DataView(index.buffer);
    let position = 0;
    let { newlines } = this.#counted;
    for (const draft of entered) {
      writeEntry(view, position, draft, newlines);
      newlines += newlinesIn(draft.bytes);
      position += ENTRY_BYTES;
    }
    const written = this.#part?.segment === target ? this.#part.bytes : 0;
    const chunks = drafts.slice(0, whole + 1).map(({ bytes: chunk, length }, each) => {
      return chunk.subarray(each === 0 ? written : 0, each < whole ? length : part);
    });
    return { target, at: target.dataBytes + written, chunks, index, dataBytes, partBytes: part, newlines };
  }

  #written({ target, index, dataBytes, partBytes, newlines }: WritePlan): void {
    if (target.entries === 0) this.#segments.push(target);
    target.entries += index.length / ENTRY_BYTES;
    target.dataBytes += dataBytes;
    this.#part = partBytes === 0 ? undefined : { segment: target, bytes: partBytes };
    this.#usedBytes += dataBytes + index.length;
    this.#counted = { offset: this.#counted.offset + dataBytes, newlines };
  }

  /** Keeps counting lines when output can no longer be kept. */
  count(lost: readonly EntryDraft[]): void {
    let { offset, newlines } = this.#counted;
    for (const { bytes } of lost) {
      offset += bytes.length;
      newlines += newlinesIn(bytes);
    }
    this.#counted = { offset, newlines };
  }

  /** Call when what was written is gone or unreadable. Nothing may be written afterwards. */
  forget(): void {
    this.#isForgotten = true;
    this.#segments = [];
    this.#usedBytes = 0;
  }

  /** Closes the files being written. */
  closeWriter(): void {
    this.#writer.close();
  }

  /** Closes the files. They are reopened when needed. */
  rest(): void {
    this.#writer.close();
    this.reader.rest();
  }

  /** The newest segment, unless it is full. */
  get #unfilled(): Segment | undefined {
    const newest = this.#segments.at(-1);
    return newest && sizeOf(newest) < this.#options.segmentBytes ? newest : undefined;
  }

  /** The segment to continue, with this much room; none if it is full. */
  #current(bytes: number): Segment | undefined {
    const before = this.#unfilled;
    if (!before) return undefined;
    this.#makeRoom(bytes);
    // It may have been deleted itself.
    return this.#segments.at(-1) === before ? before : undefined;
  }

  #nextSegment([draft]: readonly EntryDraft[], bytes: number): Segment {
    if (!draft) throw new Error('There is nothing to write.');
    const { bytes: _, ...entry } = draft;
    this.#newestNumber += 1;
    const first = { ...entry, newlines: this.#counted.newlines };
    const next = { number: this.#newestNumber, first, entries: 0, dataBytes: 0 };
    this.#makeRoom(bytes, next);
    return next;
  }

  /** Deletes as much as necessary to stay within the limits even when the next segment is full. */
  #makeRoom(bytes: number, next?: Segment): void {
    const { limitBytes, quota, owner, segmentBytes } = this.#options;
    let successor = next;
    const wanted = next ? Math.max(bytes, segmentBytes) : bytes;
    for (;;) {
      const isEmpty = this.#segments.length === 0;
      const fits = isEmpty || this.#usedBytes + wanted <= limitBytes;
      // Something is always kept, however tight the limits are.
      if ((fits && quota.grow(owner, bytes)) || isEmpty) return;
      this.#drop(this.#expendable(), successor);
      successor = undefined;
    }
  }

  /** The index of the oldest segment after the head. The head shrinks if there is none. */
  #expendable(): number {
    const behind = this.#behindHead();
    if (behind >= 0) return behind;
    this.#headBytes = Math.min(this.#headBytes, Math.floor(this.keptBytes * SMALL_HEAD));
    return Math.max(0, this.#behindHead());
  }

  #behindHead(): number {
    return this.#segments.findIndex(({ first }) => first.offset >= this.#headBytes);
  }

  #drop(position: number, successor?: Segment): void {
    const [segment] = this.#segments.splice(position, 1);
    if (!segment) return;
    this.reader.rest();
    if (position === this.#segments.length) this.#writer.close();
    this.#usedBytes -= sizeOf(segment);
    this.#options.quota.shrink(this.#options.owner, sizeOf(segment));
    this.#options.files.remove(segment, successor);
  }
}
