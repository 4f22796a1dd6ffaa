import { CHUNK_BYTES, acquireMemory } from './chunk-memory.js';
import { libc } from '../kernel/index.js';

/**
 * One buffer for all reads of this thread: nothing stays in it between two calls, and a thousand idle children must not
 * hold a thousand buffers. `take` copies out what is delivered.
 */
export const readBuffer = new Uint8Array(CHUNK_BYTES);

/** `empty`: nothing more for now. `end`: nothing more, ever. `full`: there may be more. */
export type ReadState = 'empty' | 'end' | 'full';

/** Reads into `readBuffer` from `offset` on without blocking, until it is full or nothing more is available. */
export function fillBuffer(fd: number, offset: number): { filled: number; state: ReadState } {
  const { read, errno } = libc();
  let filled = offset;
  while (filled < CHUNK_BYTES) {
    const count = read(fd, filled === 0 ? readBuffer : readBuffer.subarray(filled), CHUNK_BYTES - filled);
    if (count > 0) {
      filled += count;
      continue;
    }
    if (count === 0) return { filled, state: 'end' };
    const reason = errno();
    if (reason === 'EAGAIN') return { filled, state: 'empty' };
    // A terminal reports EIO once its last user is gone.
    if (reason !== 'EINTR') return { filled, state: 'end' };
  }
  return { filled, state: 'full' };
}

/** From this size on, zero-filling a fresh array costs more than the detour through the pool. */
const WORTH_POOLING_FROM = 4 * 1024;

/** A copy of the first `count` bytes of the buffer. */
export function take(count: number): Uint8Array {
  if (count < WORTH_POOLING_FROM) return readBuffer.slice(0, count);
  const copy = acquireMemory(count);
  copy.set(readBuffer.subarray(0, count));
  return copy;
}
