import { splitFrame } from '../../testkit/frames.mjs';

/** Smaller answers are parsed like any other message. */
const BULK_BYTES = 32 * 1024;
const HEAD_BYTES = 200;
const QUOTE = 0x22;
const PADDING = 0x3d;

/** The id of an answer that carries a lot of base64, or bytes in a frame, and how many bytes that is, found without parsing it; else null. */
export function bulkAnswer(message) {
  const frame = splitFrame(message);
  if (frame) return { id: JSON.parse(frame.header).id, byteCount: frame.bytes.length };
  if (message.length < BULK_BYTES) return null;
  const head = message.toString('latin1', 0, HEAD_BYTES);
  const found = /^\{"id":(\d+),"result":\{(?:"eof":\w+,)?"(?:dataBase64|chunk)":"/.exec(head);
  if (!found) return null;
  const start = found[0].length;
  // Base64 contains no quote, so the next one ends it.
  const end = message.indexOf(QUOTE, start);
  const padding = Number(message[end - 1] === PADDING) + Number(message[end - 2] === PADDING);
  return { id: Number(found[1]), byteCount: ((end - start) * 3) / 4 - padding };
}
