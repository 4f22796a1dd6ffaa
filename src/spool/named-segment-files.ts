import { closeSync, constants, fstatSync, openSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE } from './private-directory.js';
import type { Segment } from './segment.js';
import type { OpenPart, SegmentFiles, SegmentPart } from './segment-files.js';

/** Never follows a link, which only we could have put there, and never replaces a file. */
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const CONTINUE = constants.O_WRONLY | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;

/** Two files per segment in a private directory, which later servers find again. */
export class NamedSegmentFiles implements SegmentFiles {
  readonly #directory: string;
  /** The segment that has taken over the data file of a deleted one. */
  #successor: Segment | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  openToWrite(segment: Segment, part: SegmentPart): OpenPart {
    const isSuccessor = part === 'data' && segment === this.#successor;
    return this.#open(segment, part, segment.entries === 0 && !isSuccessor ? CREATE : CONTINUE);
  }

  openToRead(segment: Pick<Segment, 'number'>, part: SegmentPart): OpenPart {
    return this.#open(segment, part, READ);
  }

  close({ descriptor }: OpenPart): void {
    closeSync(descriptor);
  }

  /** Deletes the index first: without it, nobody mistakes the content of the data file for output of this segment. */
  remove(segment: Segment, successor?: Segment): void {
    unlinkSync(this.#path(segment, 'index'));
    if (successor) renameSync(this.#path(segment, 'data'), this.#path(successor, 'data'));
    else unlinkSync(this.#path(segment, 'data'));
    this.#successor = successor;
  }

  #open(segment: Pick<Segment, 'number'>, part: SegmentPart, flags: number): OpenPart {
    const descriptor = openSync(this.#path(segment, part), flags, FILE_MODE);
    const taken = flags === CONTINUE ? fstatSync(descriptor).size : 0;
    return { descriptor, start: 0, room: Number.POSITIVE_INFINITY, taken };
  }

  #path({ number }: Pick<Segment, 'number'>, part: SegmentPart): string {
    return join(this.#directory, segmentFile(number, part));
  }
}

/** The file name of a part of a segment. */
export function segmentFile(number: number, part: SegmentPart): string {
  return `${String(number).padStart(8, '0')}.${part}`;
}

/** The segment number in the name of an index file; null for any other file. */
export function segmentNumber(name: string): number | null {
  const found = /^(\d{8})\.index$/.exec(name);
  return found ? Number(found[1]) : null;
}
