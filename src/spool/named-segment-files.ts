import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE } from './private-directory.js';
import type { Segment } from './segment.js';
import type { SegmentFiles, SegmentPart } from './segment-files.js';

/** Not through a link, which nobody but us could have put there, and never over an existing file. */
const CREATE =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const CONTINUE = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;

/** Files in a private directory, which later servers find again. */
export class NamedSegmentFiles implements SegmentFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  openToAppend(segment: Segment, part: SegmentPart): number {
    return openSync(this.#path(segment, part), segment.entries === 0 ? CREATE : CONTINUE, FILE_MODE);
  }

  openToRead(segment: Pick<Segment, 'number'>, part: SegmentPart): number {
    return openSync(this.#path(segment, part), READ);
  }

  close(descriptor: number): void {
    closeSync(descriptor);
  }

  remove(segment: Segment): void {
    for (const part of ['index', 'data'] as const) unlinkSync(this.#path(segment, part));
  }

  #path({ number }: Pick<Segment, 'number'>, part: SegmentPart): string {
    return join(this.#directory, `${String(number).padStart(8, '0')}.${part}`);
  }
}

/** The number of the segment this is the index of, or null for any other file. */
export function segmentNumber(name: string): number | null {
  const found = /^(\d{8})\.index$/.exec(name);
  return found ? Number(found[1]) : null;
}
