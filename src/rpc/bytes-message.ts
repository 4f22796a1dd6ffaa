import { encodeBase64 } from '../protocol/base64.js';
import type { BytesResult, ByteSource } from './bytes-result.js';
import type { OutgoingMessage } from './channel.js';
import type { RawId } from './message.js';
import { PART_BYTES, PART_SOURCE_BYTES, partBuffers } from './part-buffers.js';

/** Below this size, building a string is cheaper than building bytes. */
const WORTH_BYTES = 16 * 1024;
/** Pooled buffers have the size of the largest message; smaller messages get a buffer of their own size. */
const WORTH_POOLING_BYTES = PART_BYTES / 2;
/** Bytes encoded per step: short-lived small strings are cheap. */
const STEP_BYTES = 3 * 16 * 1024;

/** A UTF-8 message whose buffer must be released once it has been sent. */
export interface PooledMessage {
  readonly message: OutgoingMessage;
  readonly release: () => void;
}

/** An answer whose bytes fit into one message, as JSON. */
export function bytesMessage(id: RawId, result: BytesResult, bytes: Uint8Array): PooledMessage {
  const head = headText(id, result);
  const tail = tailText(result);
  if (bytes.length < WORTH_BYTES)
    return { message: head.concat(encodeBase64(bytes), tail), release: () => undefined };
  const size = Buffer.byteLength(head) + Math.ceil(bytes.length / 3) * 4 + Buffer.byteLength(tail);
  const isPooled = size > WORTH_POOLING_BYTES && size <= PART_BYTES;
  const buffer = isPooled ? partBuffers.acquire() : Buffer.allocUnsafeSlow(size);
  let end = buffer.write(head);
  end = writeBase64(buffer, end, bytes);
  end += buffer.write(tail, end);
  return {
    message: buffer.subarray(0, end),
    release: () => (isPooled ? partBuffers.release(buffer) : undefined),
  };
}

/** The same in parts, for bytes that are read while they are sent. The last part is the end of the JSON. */
export async function* bytesParts(
  id: RawId,
  result: BytesResult,
  source: ByteSource,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly isLast: boolean; readonly release: () => void }> {
  const fetched = partBuffers.acquire();
  const piece = fetched.subarray(0, PART_SOURCE_BYTES);
  try {
    let head = headText(id, result);
    for (let count = await source.read(piece); count > 0; count = await source.read(piece)) {
      const buffer = partBuffers.acquire();
      const end = writeBase64(buffer, buffer.write(head), piece.subarray(0, count));
      head = '';
      yield { bytes: buffer.subarray(0, end), isLast: false, release: () => partBuffers.release(buffer) };
    }
    yield { bytes: Buffer.from(head + tailText(result)), isLast: true, release: () => undefined };
  } finally {
    partBuffers.release(fetched);
  }
}

/** Writes `bytes` as base64 at `start` and returns where it ends. Base64 is ASCII, so one character is one byte. */
function writeBase64(target: Buffer, start: number, bytes: Uint8Array): number {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = start;
  for (let at = 0; at < source.length; at += STEP_BYTES)
    end += target.write(source.toString('base64', at, at + STEP_BYTES), end, 'latin1');
  return end;
}

function headText(id: RawId, { member }: BytesResult): string {
  return `{"id":${id},"result":{${JSON.stringify(member)}:"`;
}

function tailText({ rest }: BytesResult): string {
  const others = Object.entries(rest).map(
    ([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `"${others.join('')}}}`;
}
