import { bytesMessage, bytesParts } from './bytes-message.js';
import { type BytesResult, memorySource } from './bytes-result.js';
import type { RawId } from './message.js';
import type { Outbox } from './outbox.js';
import { PART_SOURCE_BYTES } from './part-buffers.js';

/**
 * Sends an answer that carries bytes, as one message or, where they are many, in parts; resolves when the bytes are no
 * longer needed. Rejects when they cannot be had in the middle of their message.
 */
export async function sendBytes(outbox: Outbox, id: RawId, result: BytesResult): Promise<void> {
  const { bytes } = result;
  try {
    if (bytes instanceof Uint8Array && bytes.length <= PART_SOURCE_BYTES) {
      const { message, release } = bytesMessage(id, result, bytes);
      outbox.send(message, release);
    } else {
      const source = bytes instanceof Uint8Array ? memorySource(bytes) : bytes;
      await outbox.sendParts(bytesParts(id, result, source));
    }
  } finally {
    // Nothing was written: a descriptor that fails to close takes no data along.
    await result.close().catch(() => undefined);
  }
}
