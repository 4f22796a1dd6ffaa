import type { OpenPart } from './segment-files.js';
import type { ReserveSpace } from './reserved-space.js';

/** A program that has printed so much goes on: before, space is not worth reserving. */
const FLOOD_BYTES = 1024 * 1024;
/** Reserved at a time, at most. Whoever closes the file gives back what was not used. */
const RESERVED_BYTES = 4 * 1024 * 1024;

/**
 * Space on disk ahead of what is written to the newest file of an output. While a program floods there is always some:
 * the kernel then need not account for every block.
 */
export class SpaceAhead {
  /** Undefined where it cannot be done. */
  #reserve: ReserveSpace | undefined;
  readonly #fileBytes: number;
  /** Since files were opened for the first time after a pause. */
  #writtenBytes = 0;
  /** The end of the space that is taken in the file. */
  #takenEnd = 0;

  /** `fileBytes`: about what a file becomes. */
  constructor(reserve: ReserveSpace | undefined, fileBytes: number) {
    this.#reserve = reserve;
    this.#fileBytes = fileBytes;
  }

  /** Another file follows, in which so much is taken already. */
  begin(takenBytes: number): void {
    this.#takenEnd = takenBytes;
  }

  /** Called before so much is written at this position. */
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

  /** Whether there is space behind the end of the output. */
  isBehind(end: number): boolean {
    return this.#takenEnd > end;
  }

  /** Nothing was written for some time. */
  pause(): void {
    this.#writtenBytes = 0;
  }
}
