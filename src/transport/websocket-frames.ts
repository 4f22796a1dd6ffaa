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
const MAX_START_BYTES = 14;
/** In the second byte: the payload is masked, and a key of four bytes follows the length. */
const MASKED = 0x80;
/** A key of zeros leaves the payload as it is. */
const ZERO_KEY = 0;
const KEY_BYTES = 4;
/**
 * Payloads up to this size are copied behind their frame header, which is cheaper than passing two buffers to the
 * kernel.
 */
const MAX_COPIED_BYTES = 4 * 1024;

/** Whose frames they are: those of clients have a key, here always one of zeros. */
export type FrameSender = 'server' | 'client';

/**
 * Writes a message to the stream under a WebSocket: one frame, one system call, and long payloads are not copied. The
 * `ws` package needs each frame in one buffer and takes longer. It also writes whole frames at once, so frames from the
 * two never interleave. A client may do so only where its key may be zero.
 */
export function writeFrame(
  { stream, sender }: { stream: Duplex; sender: FrameSender },
  message: OutgoingMessage,
  flushed: () => void,
): void {
  if (typeof message === 'string') {
    stream.write(textFrame(message, sender), flushed);
  } else if (message instanceof BinaryMessage) {
    const { head, bytes } = message;
    const first = message instanceof DeflatedMessage ? BINARY_START | DEFLATED : BINARY_START;
    writeTwo(stream, [frameStart({ first, sender, length: message.length }, head), bytes], flushed);
  } else {
    writeTwo(stream, [frameStart({ first: TEXT_START, sender, length: message.length }), message], flushed);
  }
}

/** What a frame header says. `length`: that of the payload. */
interface FrameHeader {
  readonly first: number;
  readonly sender: FrameSender;
  readonly length: number;
}

function textFrame(text: string, sender: FrameSender): Buffer {
  const length = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(MAX_START_BYTES + length);
  const start = writeStart(frame, { first: TEXT_START, sender, length });
  return frame.subarray(0, start + frame.write(text, start));
}

/** The frame header, followed by `head`, the first part of the payload. */
function frameStart(header: FrameHeader, head?: Uint8Array): Buffer {
  const buffer = Buffer.allocUnsafe(MAX_START_BYTES + (head?.length ?? 0));
  const start = writeStart(buffer, header);
  if (head) buffer.set(head, start);
  return buffer.subarray(0, start + (head?.length ?? 0));
}

/** Returns the number of bytes written. */
function writeStart(buffer: Buffer, { first, sender, length }: FrameHeader): number {
  buffer[0] = first;
  const end = writeLength(buffer, length);
  if (sender === 'server') return end;
  buffer[1] = (buffer[1] ?? 0) | MASKED;
  return buffer.writeUIntBE(ZERO_KEY, end, KEY_BYTES);
}

/** Returns where it ends. */
function writeLength(buffer: Buffer, length: number): number {
  if (length <= MAX_SHORT) {
    buffer[1] = length;
    return 2;
  }
  if (length <= 0xffff) {
    buffer[1] = TWO_BYTE_LENGTH;
    return buffer.writeUInt16BE(length, 2);
  }
  buffer[1] = EIGHT_BYTE_LENGTH;
  buffer.writeUInt16BE(0, 2);
  return buffer.writeUIntBE(length, 4, 6);
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
