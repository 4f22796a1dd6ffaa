import { ExecError } from '../protocol/errors.js';
import { encodeBase64 } from '../protocol/base64.js';

/** First byte of a frame. No JSON text begins with it, so the two cannot be confused. */
const FRAME_VERSION = 1;
/** The version, then the length of the header in three bytes, most significant first. */
const PREAMBLE_BYTES = 4;
/** The header holds the small members of a message; the bulky one follows it. */
export const MAX_HEADER_BYTES = 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * A message whose bulky member follows the rest as raw bytes. The two parts are sent one after the other without being
 * joined.
 */
export class BinaryMessage {
  constructor(
    /** Preamble and header. */
    readonly head: Uint8Array,
    readonly bytes: Uint8Array,
  ) {}

  get length(): number {
    return this.head.length + this.bytes.length;
  }

  /** Both parts joined, for transports that need a single buffer. */
  joined(): Uint8Array {
    const whole = new Uint8Array(this.length);
    whole.set(this.head);
    whole.set(this.bytes, this.head.length);
    return whole;
  }
}

/** A deflated binary message, for channels whose other side inflates it. */
export class DeflatedMessage extends BinaryMessage {
  constructor(bytes: Uint8Array) {
    super(new Uint8Array(0), bytes);
  }
}

/** `header`: a JSON-RPC message without its bulky member; `bytes` holds the name of that member. */
export function binaryMessage(header: string, bytes: Uint8Array): BinaryMessage {
  const text = encoder.encode(header);
  const head = new Uint8Array(PREAMBLE_BYTES + text.length);
  head.set([FRAME_VERSION, text.length >>> 16, (text.length >>> 8) & 0xff, text.length & 0xff]);
  head.set(text, PREAMBLE_BYTES);
  return new BinaryMessage(head, bytes);
}

/** Whether a binary message is a frame rather than text sent as a binary message. */
export function isBinaryFrame(data: Uint8Array): boolean {
  return data[0] === FRAME_VERSION;
}

/** Splits a frame into header and bytes. Throws `invalidMessage` if it is not a valid frame. */
export function readFrame(data: Uint8Array): { header: string; bytes: Uint8Array } {
  const [version, high = 0, middle = 0, low = 0] = data;
  if (version !== FRAME_VERSION) throw broken('it is neither a frame nor text');
  if (data.length < PREAMBLE_BYTES) throw broken('it is too short');
  const end = PREAMBLE_BYTES + (high << 16) + (middle << 8) + low;
  if (end > data.length) throw broken('its header is longer than the frame');
  if (end > MAX_HEADER_BYTES) throw broken('its header is too long');
  return { header: headerText(data.subarray(PREAMBLE_BYTES, end)), bytes: unpinned(data, end) };
}

function headerText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw broken('its header is not UTF-8', cause);
  }
}

/**
 * The bytes after the header. A short tail is copied, because a view would keep the whole receive buffer in memory.
 */
function unpinned(data: Uint8Array, start: number): Uint8Array {
  const view = new Uint8Array(data.buffer, data.byteOffset + start, data.length - start);
  return view.length * 2 < view.buffer.byteLength ? view.slice() : view;
}

/** The same message as text with its bytes in base64, for transports that carry only text. */
export function frameText(data: Uint8Array): string {
  const { header, bytes } = readFrame(data);
  const message = JSON.parse(header) as Record<string, unknown>;
  const { bytes: field, ...rest } = message;
  const carrier = 'params' in rest ? 'params' : 'result';
  const members = rest[carrier] as Record<string, unknown>;
  return JSON.stringify({ ...rest, [carrier]: { ...members, [String(field)]: encodeBase64(bytes) } });
}

function broken(why: string, cause?: unknown): ExecError {
  return new ExecError('invalidMessage', `failed to read the binary frame: ${why}`, { cause });
}
