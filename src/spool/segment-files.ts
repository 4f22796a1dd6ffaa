import type { Segment } from './segment.js';

export type SegmentPart = 'data' | 'index';

/** An open file and the range of it that belongs to one part of a segment. */
export interface OpenPart {
  readonly descriptor: number;
  /** Where the range begins. */
  readonly start: number;
  /** The size of the range. */
  readonly room: number;
  /** How much of it already has disk space, whether or not anything was written there. */
  readonly taken: number;
}

/** The storage of the two parts of each segment. Opened parts are returned with `close`. */
export interface SegmentFiles {
  /** Makes room first if the segment has no entries. */
  openToWrite(segment: Segment, part: SegmentPart): OpenPart;
  openToRead(segment: Segment, part: SegmentPart): OpenPart;
  close(open: OpenPart): void;
  /** Deletes a segment. A successor may take over its data file, because overwriting is much cheaper. */
  remove(segment: Segment, successor?: Segment): void;
}
