/** The largest chunk of output handed on at once. One read of a pipe gives no more; a pty gives 4 KiB at a time. */
export const CHUNK_BYTES = 64 * 1024;
/** Smaller chunks get memory of just their size: they may be kept for long, and many. */
export const WORTH_POOLING_BYTES = CHUNK_BYTES / 2;
/** What is kept between two floods: 2 MiB, about what one process has in its log and on its way. */
const MAX_KEPT = 32;

const kept: Buffer[] = [];
/** How many still use an acquired buffer. One that is never released goes with its last reference, as any memory does. */
const users = new WeakMap<ArrayBufferLike, { count: number; readonly whole: Buffer }>();

/**
 * Memory for a whole chunk, its content undefined. Memory made anew for every chunk costs more than reading it: the
 * kernel has to hand out pages and the garbage collector to find them again.
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

/** Somebody beside the log uses a chunk, and will release it. */
export function retainChunk(chunk: Uint8Array): void {
  const use = users.get(chunk.buffer);
  if (use) use.count += 1;
}

/** One user less. After the last one the memory becomes another chunk, so nobody may look at it any more. */
export function releaseChunk(chunk: Uint8Array): void {
  const use = users.get(chunk.buffer);
  if (!use) return;
  use.count -= 1;
  if (use.count > 0) return;
  users.delete(chunk.buffer);
  if (kept.length < MAX_KEPT) kept.push(use.whole);
}
