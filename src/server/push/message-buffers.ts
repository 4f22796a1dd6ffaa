import { BufferPool } from '../../rpc/index.js';

/** Smaller messages are cheap to make anew, and a large buffer each would be a waste while they wait. */
const WORTH_POOLING_BYTES = 16 * 1024;

/** Room for the largest chunk of a process (64 KiB) in base64 and what is around it. Between two floods it keeps 1.5 MiB. */
const pool = new BufferPool({ bytes: 96 * 1024, kept: 16 });

/** A buffer of at least this size, its content undefined. */
export function acquireBuffer(size: number): Buffer {
  return size < WORTH_POOLING_BYTES || size > pool.bytes ? Buffer.allocUnsafe(size) : pool.acquire();
}

/** Nobody uses it any more. */
export function releaseBuffer(buffer: Buffer): void {
  if (buffer.length === pool.bytes) pool.release(buffer);
}
