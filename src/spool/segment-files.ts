import type { Segment } from './segment.js';

export type SegmentPart = 'data' | 'index';

/** An open file and the range of it that belongs to one part of a segment. */
export interface OpenPart {
  readonly descriptor: number;
  /** Where the range begins. */
  readonly start: number;
  /** How much fits into it. */
  readonly room: number;
  /** How much of it takes space on disk already, whether something was written there or not. */
  readonly taken: number;
}

/** Where the two parts of each segment are. What was opened is given back with `close`. */
export interface SegmentFiles {
  /** Makes room first for a segment without entries. */
  openToWrite(segment: Segment, part: SegmentPart): OpenPart;
  openToRead(segment: Segment, part: SegmentPart): OpenPart;
  close(open: OpenPart): void;
  /** Deletes a segment. A successor may take over the space of its data: writing over it is much cheaper. */
  remove(segment: Segment, successor?: Segment): void;
}
