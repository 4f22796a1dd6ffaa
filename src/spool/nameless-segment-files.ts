import { type NamelessFile, openNamelessFile } from './nameless-file.js';
import type { Segment } from './segment.js';
import type { OpenPart, SegmentFiles, SegmentPart } from './segment-files.js';

/** The room of each segment. */
export interface SlotSize {
  readonly data: number;
  readonly index: number;
}

/**
 * All segments in one file without a name, which nobody else can find and which is gone after a crash. Such a file cannot be
 * reopened, so it stays open, and segments share it: each has a slot, which is reused after its segment is deleted.
 */
export class NamelessSegmentFiles implements SegmentFiles {
  readonly #parent: string;
  readonly #slot: SlotSize;
  /** By the number of the segment. */
  readonly #slots = new Map<number, number>();
  readonly #free: number[] = [];
  #file: NamelessFile | undefined;
  /** The number of open parts. */
  #uses = 0;
  #isReleased = false;

  /** The file is created on the file system of `parent`, with the first segment. */
  constructor(parent: string, slot: SlotSize) {
    this.#parent = parent;
    this.#slot = slot;
  }

  openToWrite(segment: Segment, part: SegmentPart): OpenPart {
    if (!this.#isReleased) this.#file ??= openNamelessFile(this.#parent);
    if (!this.#slots.has(segment.number))
      this.#slots.set(segment.number, this.#free.pop() ?? this.#slots.size);
    return this.openToRead(segment, part);
  }

  openToRead({ number }: Segment, part: SegmentPart): OpenPart {
    const slot = this.#slots.get(number);
    if (this.#isReleased || !this.#file || slot === undefined) throw new Error('The segment was deleted.');
    this.#uses += 1;
    const { data, index } = this.#slot;
    const start = slot * (data + index) + (part === 'data' ? 0 : data);
    return { descriptor: this.#file.descriptor, start, room: this.#slot[part], taken: 0 };
  }

  close(): void {
    this.#uses -= 1;
    this.#closeFile();
  }

  remove({ number }: Segment): void {
    const slot = this.#slots.get(number);
    if (slot === undefined) return;
    this.#slots.delete(number);
    this.#free.push(slot);
  }

  /** Deletes everything as soon as no part is open. Idempotent. */
  release(): void {
    this.#isReleased = true;
    this.#closeFile();
  }

  #closeFile(): void {
    if (!this.#isReleased || this.#uses > 0) return;
    this.#file?.release();
    this.#file = undefined;
  }
}
