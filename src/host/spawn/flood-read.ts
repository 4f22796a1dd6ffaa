import { CHUNK_BYTES } from './chunk-memory.js';
import { waitingBytes } from './descriptors.js';
import { readBuffer } from './kernel-read.js';
import { libc } from '../kernel/index.js';

/** A flooding program prints again within this time; otherwise it is waiting for something other than us. */
const QUIET_MS = 0.5;
/** After this long others get their turn, however fast the program prints and however little at a time. */
const TURN_MS = 1;

/**
 * Reads the terminal of a flooding program into `readBuffer` from `offset` on, until the buffer is full, nothing
 * arrives for a moment, or it is time to let others run. Returns how much the buffer holds.
 *
 * The kernel buffers about 12 KiB of a terminal's output and has a worker move it to where it can be read. A read that
 * finds nothing sleeps until the worker has run, even in non-blocking mode. Program, worker and reader then wake each
 * other hundreds of times per megabyte, which takes longer than the copying. So we check first, and while there is
 * nothing we yield the processor instead of sleeping.
 */
export function readFlood(fd: number, offset: number): number {
  const { read, schedYield } = libc();
  const began = performance.now();
  let filled = offset;
  let now = began;
  let heardAt = began;
  while (filled < CHUNK_BYTES && now - heardAt < QUIET_MS && now - began < TURN_MS) {
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
