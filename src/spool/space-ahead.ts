import type { OpenPart } from './segment-files.js';
import type { ReserveSpace } from './reserved-space.js';

/** A program that has printed this much is likely to continue. Before that, reserving space is not worth it. */
const FLOOD_BYTES = 1024 * 1024;
/** The most reserved at a time. What was not used is freed when the file is closed. */
const RESERVED_BYTES = 4 * 1024 * 1024;

/**
 * Reserves disk space ahead of what is written to the newest file. During a flood there is always some, which saves the kernel
 * accounting for every block.
 */
export class SpaceAhead {
  /** Undefined if it is not possible. */
  #reserve: ReserveSpace | undefined;
  readonly #fileBytes: number;
  /** Counted since the first opening of files after a pause. */
  #writtenBytes = 0;
  /** The end of the reserved space in the file. */
  #takenEnd = 0;

  /** `fileBytes`: the approximate final size of a file. */
  constructor(reserve: ReserveSpace | undefined, fileBytes: number) {
    this.#reserve = reserve;
    this.#fileBytes = fileBytes;
  }

  /** Call when another file follows, with this much space already taken. */
  begin(takenBytes: number): void {
    this.#takenEnd = takenBytes;
  }

  /** Call before writing this many bytes at this position. */
  reserveFor({ descriptor, start }: Pick<OpenPart, 'descriptor' | 'start'>, at: number, bytes: number): void {
    const isNeeded = this.#writtenBytes >= FLOOD_BYTES && at + bytes > this.#takenEnd;
    if (!this.#reserve || !isNeeded) return;
    const from = Math.max(this.#takenEnd, at);
    const size = Math.min(RESERVED_BYTES, Math.max(this.#fileBytes, at + bytes) - from);
    if (this.#reserve(descriptor, start + from, size)) this.#takenEnd = from + size;
    else this.#reserve = undefined;
  }

  wrote(bytes: number): void {
    this.#writtenBytes += bytes;
  }

  /** Whether there is reserved space beyond the end of the output. */
  isBehind(end: number): boolean {
    return this.#takenEnd > end;
  }

  /** Call when nothing was written for some time. */
  pause(): void {
    this.#writtenBytes = 0;
  }
}
