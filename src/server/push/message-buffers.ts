import { BufferPool } from '../../rpc/index.js';

/** Smaller messages are cheap to allocate, and a large buffer for each would waste memory while they wait. */
const WORTH_POOLING_BYTES = 16 * 1024;

/** Room for the largest chunk of a process (64 KiB) in base64 with its envelope. Retains 1.5 MiB between floods. */
const pool = new BufferPool({ bytes: 96 * 1024, kept: 16 });

/** A buffer of at least this size, with undefined content. */
export function acquireBuffer(size: number): Buffer {
  return size < WORTH_POOLING_BYTES || size > pool.bytes ? Buffer.allocUnsafe(size) : pool.acquire();
}

/** Call when the buffer is no longer used. */
export function releaseBuffer(buffer: Buffer): void {
  if (buffer.length === pool.bytes) pool.release(buffer);
}
