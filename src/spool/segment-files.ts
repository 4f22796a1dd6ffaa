import type { Segment } from './segment.js';

export type SegmentPart = 'data' | 'index';

/** Where the two files of each segment are. Descriptors are given back with `close`. */
export interface SegmentFiles {
  /** A descriptor that appends. Makes the file for a segment without entries. */
  openToAppend(segment: Segment, part: SegmentPart): number;
  openToRead(segment: Segment, part: SegmentPart): number;
  close(descriptor: number): void;
  /** Deletes the files of a segment. */
  remove(segment: Segment): void;
}
