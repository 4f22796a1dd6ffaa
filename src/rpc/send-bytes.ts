import { bytesMessage, bytesParts } from './bytes-message.js';
import { type BytesResult, memorySource } from './bytes-result.js';
import { bytesFrame, bytesFrameParts } from './bytes-frame.js';
import type { RawId } from './message.js';
import type { Outbox } from './outbox.js';
import { PART_SOURCE_BYTES } from './part-buffers.js';

/** Where an answer goes, and whether the other side accepts binary frames. */
export interface BytesTarget {
  readonly outbox: Outbox;
  readonly asFrame: boolean;
}

/**
 * Sends an answer with bytes as one message or, if there are many, in parts. Resolves when whatever must follow it may
 * proceed. Rejects if the bytes become unavailable in the middle of their message.
 */
export async function sendBytes(target: BytesTarget, id: RawId, result: BytesResult): Promise<void> {
  const { outbox, asFrame } = target;
  const { bytes } = result;
  // Nothing was written, so a descriptor that fails to close loses no data.
  const close = (): Promise<void> => result.close().catch(() => undefined);
  if (bytes instanceof Uint8Array && asFrame) {
    return outbox.send(bytesFrame(id, result, bytes), () => void close());
  }
  try {
    if (bytes instanceof Uint8Array && bytes.length <= PART_SOURCE_BYTES) {
      const { message, release } = bytesMessage(id, result, bytes);
      outbox.send(message, release);
    } else {
      const source = bytes instanceof Uint8Array ? memorySource(bytes) : bytes;
      const parts = asFrame ? bytesFrameParts(id, result, source) : bytesParts(id, result, source);
      await outbox.sendParts(parts, { isFrame: asFrame });
    }
  } finally {
    await close();
  }
}
