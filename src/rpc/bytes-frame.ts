import { type BinaryMessage, binaryMessage } from './binary-frame.js';
import type { BytesResult, ByteSource } from './bytes-result.js';
import { frameHeader, type RawId, resultText } from './message.js';
import type { MessagePart } from './outbox.js';
import { partBuffers } from './part-buffers.js';

/** An answer with bytes as one binary frame. The bytes are not copied. */
export function bytesFrame(id: RawId, { member, rest }: BytesResult, bytes: Uint8Array): BinaryMessage {
  return binaryMessage(frameHeader(resultText(id, rest), member), bytes);
}

/** The same in parts, for bytes that are read while they are sent. The last part is empty. */
export async function* bytesFrameParts(
  id: RawId,
  result: BytesResult,
  source: ByteSource,
): AsyncGenerator<MessagePart> {
  const { head } = bytesFrame(id, result, new Uint8Array(0));
  yield { bytes: head, isLast: false, release: () => undefined };
  for (;;) {
    const buffer = partBuffers.acquire();
    const release = (): void => partBuffers.release(buffer);
    const count = await source.read(buffer);
    yield { bytes: buffer.subarray(0, count), isLast: count === 0, release };
    if (count === 0) return;
  }
}
