import { read } from 'node:fs';
import { promisify } from 'node:util';
import { ENTRY_BYTES, type EntryDraft } from './index-entry.js';
import { NamelessSegmentFiles } from './nameless-segment-files.js';
import type { SpoolOwner, SpoolQuota } from './quota.js';
import { rangeAt } from './segment-lines.js';
import type { Segment } from './segment.js';
import { SegmentStore } from './segment-store.js';

const readLater = promisify(read);

/** The most written at once. */
export const MAX_WRITE_BYTES = 320 * 1024;
/** More chunks than this are joined, because each takes room in the index. */
const MAX_ENTRIES = 16;
/** The index takes a page of memory, so that slots are page-aligned. */
const SLOT = { data: MAX_WRITE_BYTES, index: 4096 } as const;
/** An upper bound for the size of the index relative to the output. */
const INDEX_SHARE = (MAX_ENTRIES * ENTRY_BYTES) / (64 * 1024);

export interface TemporaryOutputOptions {
  /** A directory on the file system to use. */
  readonly parent: string;
  readonly owner: SpoolOwner;
  readonly quota: SpoolQuota;
  /** How much of the beginning is kept. */
  readonly headBytes: number;
  readonly tailBytes: number;
}

/** Output on disk while this program runs. Nobody else can find it. Beyond its limits, it keeps both ends. */
export class TemporaryOutput {
  readonly #files: NamelessSegmentFiles;
  readonly #store: SegmentStore;
  #lastSeq = 0;

  constructor({ parent, owner, quota, headBytes, tailBytes }: TemporaryOutputOptions) {
    this.#files = new NamelessSegmentFiles(parent, SLOT);
    // The head consists of whole segments, and whole segments are deleted.
    const limitBytes = (headBytes + tailBytes) * (1 + INDEX_SHARE) + 2 * (SLOT.data + SLOT.index);
    // Each write is a segment, so that no more is deleted than necessary.
    const segmentBytes = 0;
    this.#store = new SegmentStore({ files: this.#files, owner, quota, limitBytes, headBytes, segmentBytes });
  }

  /** Bytes that can be read. */
  get keptBytes(): number {
    return this.#store.keptBytes;
  }

  /** Appends at most `MAX_WRITE_BYTES`. One call at a time. Throws on failure; after that, nothing may be appended. */
  async write(chunks: readonly Uint8Array[]): Promise<void> {
    const timeMs = Date.now();
    let { offset } = this.#store.counted;
    const joined = chunks.length > MAX_ENTRIES ? [Buffer.concat(chunks)] : chunks;
    const drafts = joined.map((bytes): EntryDraft => {
      this.#lastSeq += 1;
      // Streams are not distinguished here.
      const draft = {
        kind: 'stdout',
        seq: this.#lastSeq,
        offset,
        timeMs,
        length: bytes.length,
        bytes,
      } as const;
      offset += bytes.length;
      return draft;
    });
    await this.#store.writeLater(drafts);
  }

  /** Output from an offset on, or the first that is left after it; none at the end. Throws if it cannot be read. */
  async bytesAt(
    offset: number,
    maxBytes: number,
  ): Promise<{ readonly offset: number; readonly bytes: Uint8Array } | undefined> {
    for (;;) {
      const { segments } = this.#store.reader;
      const found = rangeAt(segments, offset, maxBytes);
      if (!found) return undefined;
      const bytes = await this.#read(found);
      // Otherwise its slot may have been reused in the meantime.
      if (this.#store.reader.segments.includes(found.segment)) return { offset: found.offset, bytes };
    }
  }

  /** Deletes everything. Idempotent. */
  release(): void {
    this.#store.forget();
    this.#files.release();
  }

  async #read({ segment, at, length }: { segment: Segment; at: number; length: number }): Promise<Buffer> {
    const part = this.#files.openToRead(segment, 'data');
    try {
      const bytes = Buffer.allocUnsafe(length);
      for (let done = 0; done < length; ) {
        const { bytesRead } = await readLater(part.descriptor, {
          buffer: bytes,
          offset: done,
          position: part.start + at + done,
        });
        if (bytesRead === 0) throw new Error('The file is shorter than what was written to it.');
        done += bytesRead;
      }
      return bytes;
    } finally {
      this.#files.close();
    }
  }
}
