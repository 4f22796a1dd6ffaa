import { CHUNK_BYTES } from './chunk-memory.js';
import { waitingBytes } from './descriptors.js';
import { readBuffer } from './kernel-read.js';
import { libc } from '../kernel/index.js';

/** A program that floods prints again within this time, or waits for something else than us. */
const PATIENCE_MS = 0.5;
/** However fast it prints, and however little at a time, others get their turn after this. */
const TURN_MS = 1;

/**
 * Reads a terminal whose program floods into `readBuffer`, from `offset` on, until that is full, nothing comes for a moment,
 * or it is the turn of others. Returns how much is in it.
 *
 * The kernel holds some 12 KiB of a terminal's output and has a worker of its own bring it to where it can be read. A read
 * that finds nothing sleeps until the worker has been there, even one that must not block; program, worker and reader
 * then wake each other hundreds of times per megabyte, and that takes longer than the copying. So we look first, and while there
 * is nothing the processor is left to whoever wants it, but not to sleep.
 */
export function readFlood(fd: number, offset: number): number {
  const { read, schedYield } = libc();
  const began = performance.now();
  let filled = offset;
  let now = began;
  let heardAt = began;
  while (filled < CHUNK_BYTES && now - heardAt < PATIENCE_MS && now - began < TURN_MS) {
    const hears = waitingBytes(fd) > 0;
    if (hears) {
      const count = read(fd, readBuffer.subarray(filled), CHUNK_BYTES - filled);
      if (count <= 0) break;
      filled += count;
    } else {
      schedYield();
    }
    now = performance.now();
    if (hears) heardAt = now;
  }
  return filled;
}
