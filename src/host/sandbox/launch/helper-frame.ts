/** One message between server and file helper: a JSON value that may contain bytes anywhere. */
export type HelperMessage = Readonly<Record<string, unknown>>;

/** Two 32-bit lengths: of the JSON, and of the bytes after it. */
const PREFIX_BYTES = 8;

/** Larger than any file sent in one message; a longer frame means a broken helper. */
const MAX_PART_BYTES = 1024 * 1024 * 1024;

/** Marks bytes in the JSON: their offset and length. */
const BYTES_MARK = '$bytes';

/** Up to this size copying bytes is cheaper than another write call. */
const MAX_COPIED_BYTES = 64 * 1024;

/**
 * Bytes follow the JSON unencoded; base64 would cost more than the whole file operation. A short frame is one piece, so
 * that it is written, and read at the other end, in one go.
 */
export function encodeFrame(message: HelperMessage): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let length = 0;
  const json = JSON.stringify(message, function (this: Record<string, unknown>, key, value: unknown) {
    // Taken from the holder: by now a Buffer has already converted itself to JSON.
    const bytes = this[key];
    if (!(bytes instanceof Uint8Array)) return value;
    parts.push(bytes);
    length += bytes.length;
    return { [BYTES_MARK]: [length - bytes.length, bytes.length] };
  });
  const header = Buffer.from(json);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(header.length, 0);
  prefix.writeUInt32BE(length, 4);
  const pieces = [prefix, header, ...parts];
  return length > MAX_COPIED_BYTES ? pieces : [Buffer.concat(pieces)];
}

/** Splits a byte stream into messages. */
export class FrameReader {
  #chunks: Uint8Array[] = [];
  #length = 0;
  /** Bytes needed before there is anything to parse, so that a long frame is joined only once. */
  #needed = PREFIX_BYTES;

  /** Takes more bytes and returns the messages they complete. Throws on input none of our helpers would send. */
  push(chunk: Uint8Array): HelperMessage[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return [];
    const messages: HelperMessage[] = [];
    let rest = Buffer.concat(this.#chunks);
    while (rest.length >= this.#needed) {
      const end = frameLength(rest);
      this.#needed = end;
      if (rest.length < end) break;
      messages.push(decode(rest.subarray(0, end)));
      rest = rest.subarray(end);
      this.#needed = PREFIX_BYTES;
    }
    this.#chunks = [rest];
    this.#length = rest.length;
    return messages;
  }
}

function frameLength(bytes: Buffer): number {
  const [header, body] = [bytes.readUInt32BE(0), bytes.readUInt32BE(4)];
  if (header > MAX_PART_BYTES || body > MAX_PART_BYTES) throw new Error('a frame is too long');
  return PREFIX_BYTES + header + body;
}

function decode(frame: Buffer): HelperMessage {
  const start = PREFIX_BYTES + frame.readUInt32BE(0);
  const json = frame.toString('utf8', PREFIX_BYTES, start);
  return JSON.parse(json, revive(frame.subarray(start))) as HelperMessage;
}

function revive(body: Buffer): (key: string, value: unknown) => unknown {
  return (_key, value) => {
    if (typeof value !== 'object' || value === null || !(BYTES_MARK in value)) return value;
    const [start, length] = value[BYTES_MARK] as [number, number];
    return new Uint8Array(body.subarray(start, start + length));
  };
}
