import { ENTRY_BYTES, type IndexEntry } from './index-entry.js';

/** The output of a process is stored in pieces of about this size, the oldest of which can be deleted. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;

/** A data file with raw output, and an index file that says what is where in it. */
export interface Segment {
  readonly number: number;
  /** Its first entry. */
  readonly first: IndexEntry;
  /** Number of entries in the index. */
  entries: number;
  dataBytes: number;
}

/** What a segment takes on disk. */
export function sizeOf({ entries, dataBytes }: Segment): number {
  return entries * ENTRY_BYTES + dataBytes;
}
