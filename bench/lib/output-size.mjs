import { splitFrame } from '../../testkit/frames.mjs';

const HEAD = Buffer.from('{"method":"process/output"');
const CHUNK = Buffer.from('"chunk":"');
const QUOTE = 0x22;
const PADDING = 0x3d;

/** Bytes of output a `process/output` message carries, found without parsing it; null for any other message. */
export function outputSize(message) {
  const frame = splitFrame(message);
  if (frame) return frame.header.startsWith('{"method":"process/output"') ? frame.bytes.length : null;
  if (message.length < HEAD.length || message.compare(HEAD, 0, HEAD.length, 0, HEAD.length) !== 0)
    return null;
  const start = message.indexOf(CHUNK, HEAD.length) + CHUNK.length;
  // Base64 contains no quote, so the next one ends the chunk.
  const end = message.indexOf(QUOTE, start);
  const padding =
    end - start < 4 ? 0 : Number(message[end - 1] === PADDING) + Number(message[end - 2] === PADDING);
  return ((end - start) * 3) / 4 - padding;
}
