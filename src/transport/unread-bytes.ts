import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Where the `ws` package is in a frame. Its other states end by themselves, and cannot be continued elsewhere. */
const STATES = { frameStart: 0, shortLength: 1, longLength: 2, mask: 3, payload: 4 } as const;
const MASKED = 0x80;
const FINAL = 0x80;
const TEXT = 0x1;
const BINARY = 0x2;
const SHORT_LENGTH = 126;
const LONG_LENGTH = 127;
const NO_MASK = Buffer.alloc(4);

/** What we know of the inside of the `ws` package. */
interface Receiver {
  readonly _state: number;
  readonly _fin: boolean;
  readonly _opcode: number;
  readonly _fragmented: number;
  readonly _payloadLength: number;
  readonly _mask: Buffer | undefined;
  readonly _buffers: readonly Buffer[];
  readonly writableLength: number;
}

/**
 * Everything that was read from a socket and not acted on, as its client sent it or could have: `messages`, then the part of the
 * next one that has arrived. Null if that is unknown. Call when nothing more is read.
 */
export function unreadBytes(
  socket: WebSocket,
  stream: Duplex,
  messages: readonly (string | Uint8Array)[],
): Buffer | null {
  const begun = begunFrame(Reflect.get(socket, '_receiver'));
  if (begun === null) return null;
  // Listeners would take it.
  stream.removeAllListeners('data');
  const arrived: Buffer[] = [];
  for (let chunk: unknown = stream.read(); Buffer.isBuffer(chunk); chunk = stream.read()) arrived.push(chunk);
  return Buffer.concat([...messages.map(clientFrame), begun, ...arrived]);
}

/** The frame that has begun to arrive. Null if it is one that we do not understand. */
function begunFrame(inside: unknown): Buffer | null {
  if (!isKnown(inside) || inside._fragmented !== 0 || inside.writableLength > 0) return null;
  const rest = Buffer.concat(inside._buffers);
  const { _state: state, _payloadLength: length, _mask: mask } = inside;
  const first = (inside._fin ? FINAL : 0) | inside._opcode;
  switch (state) {
    case STATES.frameStart:
      return rest;
    case STATES.shortLength:
      return Buffer.concat([Buffer.of(first, MASKED | SHORT_LENGTH), rest]);
    case STATES.longLength:
      return Buffer.concat([Buffer.of(first, MASKED | LONG_LENGTH), rest]);
    case STATES.mask:
      return Buffer.concat([frameStart(first, length), rest]);
    case STATES.payload:
      return mask ? Buffer.concat([frameStart(first, length), mask, rest]) : null;
    default:
      return null;
  }
}

/** Another version of the package may be different inside. */
function isKnown(inside: unknown): inside is Receiver {
  const receiver = Object(inside) as Partial<Receiver>;
  const { _state, _opcode, _fragmented, _payloadLength, writableLength } = receiver;
  const numbers = [_state, _opcode, _fragmented, _payloadLength, writableLength];
  return numbers.every((each) => typeof each === 'number') && Array.isArray(receiver._buffers);
}

function frameStart(first: number, length: number): Buffer {
  if (length < SHORT_LENGTH) return Buffer.of(first, MASKED | length);
  const start = Buffer.alloc(length <= 0xffff ? 4 : 10);
  start[0] = first;
  start[1] = MASKED | (length <= 0xffff ? SHORT_LENGTH : LONG_LENGTH);
  if (length <= 0xffff) start.writeUInt16BE(length, 2);
  else start.writeUIntBE(length, 4, 6);
  return start;
}

function clientFrame(message: string | Uint8Array): Buffer {
  const isText = typeof message === 'string';
  const payload = isText ? Buffer.from(message) : message;
  return Buffer.concat([frameStart(FINAL | (isText ? TEXT : BINARY), payload.length), NO_MASK, payload]);
}
