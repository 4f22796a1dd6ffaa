import type { Duplex } from 'node:stream';
import { BinaryMessage, DeflatedMessage, type OutgoingMessage } from '../rpc/index.js';

/** FIN and opcode of a message sent as one frame. */
const TEXT_START = 0x81;
const BINARY_START = 0x82;
/** RSV1: the payload is deflated (RFC 7692). */
const DEFLATED = 0x40;
/** Payload lengths up to this fit into the second byte. */
const MAX_SHORT = 125;
const TWO_BYTE_LENGTH = 126;
const EIGHT_BYTE_LENGTH = 127;
const MAX_START_BYTES = 10;
/**
 * Payloads up to this size are copied behind their frame header, which is cheaper than passing two buffers to the
 * kernel.
 */
const MAX_COPIED_BYTES = 4 * 1024;

/**
 * Writes a message to the stream under a server's WebSocket: one frame, one system call, and long payloads are not
 * copied. The `ws` package needs each frame in one buffer and takes longer. It also writes whole frames at once, so
 * frames from the two never interleave.
 */
export function writeFrame(stream: Duplex, message: OutgoingMessage, flushed: () => void): void {
  if (typeof message === 'string') {
    stream.write(textFrame(message), flushed);
  } else if (message instanceof BinaryMessage) {
    const { head, bytes } = message;
    const first = message instanceof DeflatedMessage ? BINARY_START | DEFLATED : BINARY_START;
    writeTwo(stream, [frameStart(first, message.length, head), bytes], flushed);
  } else {
    writeTwo(stream, [frameStart(TEXT_START, message.length), message], flushed);
  }
}

function textFrame(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(MAX_START_BYTES + bytes);
  const start = writeStart(frame, TEXT_START, bytes);
  return frame.subarray(0, start + frame.write(text, start));
}

/** The frame header, followed by `head`, the first part of the payload. */
function frameStart(first: number, payloadBytes: number, head?: Uint8Array): Buffer {
  const buffer = Buffer.allocUnsafe(MAX_START_BYTES + (head?.length ?? 0));
  const start = writeStart(buffer, first, payloadBytes);
  if (head) buffer.set(head, start);
  return buffer.subarray(0, start + (head?.length ?? 0));
}

/** Returns the number of bytes written. Servers do not mask their frames. */
function writeStart(buffer: Buffer, first: number, payloadBytes: number): number {
  buffer[0] = first;
  if (payloadBytes <= MAX_SHORT) {
    buffer[1] = payloadBytes;
    return 2;
  }
  if (payloadBytes <= 0xffff) {
    buffer[1] = TWO_BYTE_LENGTH;
    return buffer.writeUInt16BE(payloadBytes, 2);
  }
  buffer[1] = EIGHT_BYTE_LENGTH;
  buffer.writeUInt16BE(0, 2);
  return buffer.writeUIntBE(payloadBytes, 4, 6);
}

function writeTwo(stream: Duplex, [first, second]: [Buffer, Uint8Array], flushed: () => void): void {
  if (second.length <= MAX_COPIED_BYTES) {
    stream.write(Buffer.concat([first, second]), flushed);
    return;
  }
  stream.cork();
  stream.write(first);
  stream.write(second, flushed);
  stream.uncork();
}
