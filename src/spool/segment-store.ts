import { countNewlines, type LineMark } from '../contract/index.js';
import { ENTRY_BYTES, type EntryDraft, writeEntry } from './index-entry.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';
import type { ReserveSpace } from './reserved-space.js';
import { type Segment, sizeOf } from './segment.js';
import type { SegmentFiles } from './segment-files.js';
import { SegmentReader } from './segment-reader.js';
import { SegmentWriter } from './segment-writer.js';

export interface StoreOptions {
  readonly files: SegmentFiles;
  /** Whose share of the quota this is. */
  readonly owner: SpoolOwner;
  readonly quota: SpoolQuota;
  /** Most that is kept. */
  readonly limitBytes: number;
  /** A segment of this size gets no more. */
  readonly segmentBytes: number;
  readonly reserve?: ReserveSpace | undefined;
  /** The beginning that stays when other output has to go. Default: none of it. */
  readonly headBytes?: number;
}

interface WritePlan {
  readonly target: Segment;
  readonly chunks: readonly Uint8Array[];
  readonly index: Uint8Array;
  readonly dataBytes: number;
  /** Up to the end of what is to be written. */
  readonly newlines: number;
}

/** If the quota leaves no room for the whole head, it becomes this part of what there is. */
const SMALL_HEAD = 1 / 4;

/** The output of one process in segments, within bounds: beyond them, the oldest behind the head is deleted. */
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

  /** Output that can be read. */
  get keptBytes(): number {
    return this.#segments.reduce((sum, { dataBytes }) => sum + dataBytes, 0);
  }

  /** Writes what follows the output it has. Throws if that fails; then only `count` may follow. */
  write(drafts: readonly EntryDraft[]): void {
    const plan = this.#plan(drafts);
    this.#writer.append(plan.target, plan.chunks, plan.index);
    this.#written(plan);
  }

  /** The same while others have the event loop. One call at a time. */
  async writeLater(drafts: readonly EntryDraft[]): Promise<void> {
    const plan = this.#plan(drafts);
    await this.#writer.appendLater(plan.target, plan.chunks, plan.index);
    if (!this.#isForgotten) this.#written(plan);
  }

  /** Makes room, and says what is to be written where. */
  #plan(drafts: readonly EntryDraft[]): WritePlan {
    const dataBytes = drafts.reduce((sum, { length }) => sum + length, 0);
    const bytes = dataBytes + drafts.length * ENTRY_BYTES;
    const target = this.#current(bytes) ?? this.#nextSegment(drafts, bytes);
    const index = new Uint8Array(drafts.length * ENTRY_BYTES);
    const view = new DataView(index.buffer);
    let position = 0;
    let { newlines } = this.#counted;
    for (const draft of drafts) {
      writeEntry(view, position, draft, newlines);
      newlines += countNewlines(draft.bytes);
      position += ENTRY_BYTES;
    }
    const chunks = drafts.map((draft) => draft.bytes);
    return { target, chunks, index, dataBytes, newlines };
  }

  #written({ target, chunks, index, dataBytes, newlines }: WritePlan): void {
    if (target.entries === 0) this.#segments.push(target);
    target.entries += chunks.length;
    target.dataBytes += dataBytes;
    this.#usedBytes += dataBytes + index.length;
    this.#counted = { offset: this.#counted.offset + dataBytes, newlines };
  }

  /** Lines are numbered on when their output can no longer be kept. */
  count(lost: readonly EntryDraft[]): void {
    let { offset, newlines } = this.#counted;
    for (const { bytes } of lost) {
      offset += bytes.length;
      newlines += countNewlines(bytes);
    }
    this.#counted = { offset, newlines };
  }

  /** What was written is gone, or cannot be read. Nothing may be written afterwards. */
  forget(): void {
    this.#isForgotten = true;
    this.#segments = [];
    this.#usedBytes = 0;
  }

  /** Closes the files to write to. */
  closeWriter(): void {
    this.#writer.close();
  }

  /** Closes the files. They are opened again when they are needed. */
  rest(): void {
    this.#writer.close();
    this.reader.rest();
  }

  /** The segment to continue, with room for so much; none if it is full. */
  #current(bytes: number): Segment | undefined {
    const isFull = (newest: Segment): boolean => sizeOf(newest) >= this.#options.segmentBytes;
    const before = this.#segments.at(-1);
    if (!before || isFull(before)) return undefined;
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

  /** Deletes what is needed to stay within the bounds, also when the next segment will be full. */
  #makeRoom(bytes: number, next?: Segment): void {
    const { limitBytes, quota, owner, segmentBytes } = this.#options;
    let successor = next;
    const wanted = next ? Math.max(bytes, segmentBytes) : bytes;
    for (;;) {
      const isEmpty = this.#segments.length === 0;
      const fits = isEmpty || this.#usedBytes + wanted <= limitBytes;
      // Something is kept, however narrow the bounds are.
      if ((fits && quota.grow(owner, bytes)) || isEmpty) return;
      this.#drop(this.#expendable(), successor);
      successor = undefined;
    }
  }

  /** The position of the oldest segment behind the head, which becomes smaller if nothing is behind it. */
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
