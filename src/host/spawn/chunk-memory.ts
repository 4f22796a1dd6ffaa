/**
 * The largest chunk of output delivered at once. A pipe read returns at most this much; a pty returns 4 KiB at a time.
 */
export const CHUNK_BYTES = 64 * 1024;
/** Smaller chunks get memory of exactly their size: there may be many of them, kept for a long time. */
export const WORTH_POOLING_BYTES = CHUNK_BYTES / 2;
/** Buffers kept between bursts: 2 MiB, about what one process has in its log and in flight. */
const MAX_KEPT = 32;

const kept: Buffer[] = [];
/** How many users an acquired buffer has. One that is never released is garbage-collected like any other memory. */
const users = new WeakMap<ArrayBufferLike, { count: number; readonly whole: Buffer }>();

/**
 * Memory for a full chunk, uninitialized. Allocating anew for each chunk would cost more than reading it: the kernel
 * has to supply the pages and the garbage collector has to find them again.
 */
export function acquireChunk(): Buffer {
  const whole = kept.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
  users.set(whole.buffer, { count: 1, whole });
  return whole;
}

/** Memory for a chunk of this size. */
export function acquireMemory(size: number): Buffer {
  return size < WORTH_POOLING_BYTES ? Buffer.allocUnsafeSlow(size) : acquireChunk().subarray(0, size);
}

/** Adds a user besides the log, who must release the chunk. */
export function retainChunk(chunk: Uint8Array): void {
  const use = users.get(chunk.buffer);
  if (use) use.count += 1;
}

/** Drops one user. After the last one the memory is reused for another chunk, so nobody may touch it any more. */
export function releaseChunk(chunk: Uint8Array): void {
  const use = users.get(chunk.buffer);
  if (!use) return;
  use.count -= 1;
  if (use.count > 0) return;
  users.delete(chunk.buffer);
  if (kept.length < MAX_KEPT) kept.push(use.whole);
}
