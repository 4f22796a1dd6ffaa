import type { ChunkPlace, LineMark, LineSource, MarkRequest } from '../contract/index.js';
import { bytesAt, chunkAt, markBefore, offsetSince } from './segment-lines.js';
import type { SegmentReader } from './segment-reader.js';

/** Stored output by position in bytes. If its files disappear while it is read, the rest counts as gone. */
export class StoredLines implements LineSource {
  readonly #reader: SegmentReader;
  readonly totalBytes: number;
  readonly closed = true;
  #isGone = false;

  constructor(reader: SegmentReader, totalBytes: number) {
    this.#reader = reader;
    this.totalBytes = totalBytes;
  }

  bytesAt(offset: number, maxBytes: number): { offset: number; bytes: Uint8Array } | undefined {
    return this.#read((reader) => bytesAt(reader, offset, maxBytes));
  }

  chunkAt(offset: number): ChunkPlace | undefined {
    return this.#read((reader) => chunkAt(reader, offset));
  }

  offsetSince(timeMs: number): number {
    return this.#read((reader) => offsetSince(reader, timeMs)) ?? this.totalBytes;
  }

  markBefore(wanted: MarkRequest): LineMark {
    return this.#read((reader) => markBefore(reader, wanted)) ?? { offset: 0, newlines: 0 };
  }

  #read<Found>(find: (reader: SegmentReader) => Found | undefined): Found | undefined {
    if (this.#isGone) return undefined;
    try {
      return find(this.#reader);
    } catch {
      this.#isGone = true;
      return undefined;
    }
  }
}
