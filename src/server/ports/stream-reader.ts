import type { SocketReader } from '../../host/index.js';
import { type BufferPool, type ByteStream, MAX_PIECE_BYTES } from '../../rpc/index.js';

/** What is read at once is sent as one message. */
export const READ_BYTES = MAX_PIECE_BYTES;

/**
 * All sockets read into this one until they turn out to be busy, so that a thousand idle ones hold no memory: a read and its
 * callback are one step.
 */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Reads a socket into a stream without leaving garbage behind: little at a time is copied. A busy one reads into buffers of the
 * pool, four times as much with each call as Node does by itself, once the stream has a window for that.
 */
export function streamReader(pool: BufferPool, stream: Pick<ByteStream, 'write' | 'room'>): SocketReader {
  let own: Buffer | null = null;
  let isBusy = false;
  const take = (count: number, buffer: Uint8Array): boolean => {
    const filled = own;
    if (filled === null || buffer !== filled) return stream.write(Buffer.from(buffer.subarray(0, count)));
    if (count < shared.length) return stream.write(Buffer.from(filled.subarray(0, count)));
    own = null;
    return stream.write(filled.subarray(0, count), () => pool.release(filled));
  };
  return {
    buffer: () => {
      if (isBusy) return (own ??= pool.acquire());
      if (own) pool.release(own);
      own = null;
      return shared;
    },
    callback: (count, buffer) => {
      const goesOn = take(count, buffer);
      isBusy = count >= shared.length && stream.room >= READ_BYTES;
      return goesOn;
    },
  };
}
