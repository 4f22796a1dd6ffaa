/** First byte of a binary frame; the length of its header follows in three bytes, then the header, then the bytes. */
const FRAME_VERSION = 1;
const PREAMBLE_BYTES = 4;

/** The header of a binary frame and how many bytes follow it; null for text. */
export function frameOf(message) {
  if (message[0] !== FRAME_VERSION) return null;
  const end = PREAMBLE_BYTES + message.readUIntBE(1, 3);
  return { header: message.toString('utf8', PREAMBLE_BYTES, end), byteCount: message.length - end };
}

/** A message as a binary frame. `header` is its JSON without the member the bytes stand for. */
export function toFrame(header, bytes) {
  const text = Buffer.from(header);
  const preamble = Buffer.alloc(PREAMBLE_BYTES);
  preamble[0] = FRAME_VERSION;
  preamble.writeUIntBE(text.length, 1, 3);
  return Buffer.concat([preamble, text, bytes]);
}
