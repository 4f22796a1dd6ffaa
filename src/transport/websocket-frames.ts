import type { Duplex } from 'node:stream';
import type { BinaryMessage } from '../rpc/index.js';

/** FIN and the opcode of a binary message. */
const BINARY_START = 0x82;
/** Payloads up to here have their length in the second byte. */
const MAX_SHORT = 125;
const TWO_BYTE_LENGTH = 126;
const EIGHT_BYTE_LENGTH = 127;

/**
 * Writes a binary message to the stream under a server's WebSocket, in one frame and one system call; the bytes
 * are not copied. The `ws` package would need them in one piece with what comes before. It writes whole frames at once,
 * and we do, so the two do not get mixed up.
 */
export function writeBinary(stream: Duplex, message: BinaryMessage, flushed: () => void): void {
  const { head, bytes } = message;
  const start = frameStart(message.length);
  const first = Buffer.allocUnsafe(start.length + head.length);
  first.set(start);
  first.set(head, start.length);
  stream.cork();
  stream.write(first, bytes.length === 0 ? flushed : undefined);
  if (bytes.length > 0) stream.write(bytes, flushed);
  stream.uncork();
}

/** What stands before the payload of an unmasked frame that is a whole message. */
function frameStart(payloadBytes: number): Buffer {
  if (payloadBytes <= MAX_SHORT) return Buffer.from([BINARY_START, payloadBytes]);
  const long = payloadBytes > 0xffff;
  const start = Buffer.alloc(long ? 10 : 4);
  start.set([BINARY_START, long ? EIGHT_BYTE_LENGTH : TWO_BYTE_LENGTH]);
  if (long) start.writeUIntBE(payloadBytes, 4, 6);
  else start.writeUInt16BE(payloadBytes, 2);
  return start;
}
