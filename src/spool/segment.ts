import { ENTRY_BYTES, type IndexEntry } from './index-entry.js';

/** Output is stored in segments of about this size, so that the oldest can be deleted. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;

/** A data file with raw output, and an index file that describes it. */
export interface Segment {
  readonly number: number;
  /** Its first entry. */
  readonly first: IndexEntry;
  /** Number of entries in the index. */
  entries: number;
  dataBytes: number;
}

/** The size of a segment on disk. */
export function sizeOf({ entries, dataBytes }: Segment): number {
  return entries * ENTRY_BYTES + dataBytes;
}
