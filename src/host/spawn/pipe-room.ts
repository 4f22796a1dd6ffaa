import { libc, linux } from '../kernel/index.js';
import { CHUNK_BYTES } from './chunk-memory.js';

/** The room in a pipe. The usual one holds one chunk. */
const USUAL_BYTES = CHUNK_BYTES;
export const LARGE_BYTES = 4 * CHUNK_BYTES;
/** A program that has filled its pipe this often prints faster than we read. */
export const FULL_CHUNKS = 8;
/**
 * The kernel counts the room in all pipes of a user, and beyond 64 MiB gives every new pipe very little. So only a few are large
 * at a time.
 */
export const MAX_LARGE = 8;

/** Those whose pipes are large, the longest first. */
const large = new Set<PipeRoom>();

/**
 * Makes the pipe of a flooding program larger, so that the program prints while we write its output to disk, and the two wake
 * each other less often.
 */
export class PipeRoom {
  readonly #fd: number;
  #fullChunks = 0;

  /** Either end of the pipe. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Call with the size of each chunk that was read. */
  took(bytes: number): void {
    if (bytes < USUAL_BYTES || large.has(this)) return;
    this.#fullChunks += 1;
    if (this.#fullChunks < FULL_CHUNKS) return;
    this.#fullChunks = 0;
    if (large.size < MAX_LARGE || takeBack()) this.#enlarge();
  }

  /** Call before the pipe is closed. */
  release(): void {
    large.delete(this);
  }

  /** Where the kernel refuses, the pipe stays as it is. */
  #enlarge(): void {
    if (this.#resize(LARGE_BYTES)) large.add(this);
  }

  /** False if it holds too much for that. */
  shrink(): boolean {
    if (!this.#resize(USUAL_BYTES)) return false;
    this.release();
    return true;
  }

  #resize(bytes: number): boolean {
    return libc().fcntl(this.#fd, linux.F_SETPIPE_SZ, 'int', bytes) >= 0;
  }
}

/** Takes the room of a program that does not need it now. */
function takeBack(): boolean {
  return [...large].some((each) => each.shrink());
}
