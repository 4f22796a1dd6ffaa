/** One message between server and file helper: a JSON value in which bytes may occur anywhere. */
export type HelperMessage = Readonly<Record<string, unknown>>;

/** Two lengths, of the JSON and of the bytes behind it, 32 bits each. */
const PREFIX_BYTES = 8;

/** More than any file that travels in one message; a longer frame is a broken helper. */
const MAX_PART_BYTES = 1024 * 1024 * 1024;

/** Stands in the JSON for bytes: where they start and how many they are. */
const BYTES_MARK = '$bytes';

/** Up to here copying bytes costs less than another call of the system to write them. */
const MAX_COPIED_BYTES = 64 * 1024;

/**
 * Bytes travel behind the JSON as they are; base64 would cost more than the whole file operation. What is short is
 * one piece, so that it is written, and read at the other end, at once.
 */
export function encodeFrame(message: HelperMessage): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let length = 0;
  const json = JSON.stringify(message, function (this: Record<string, unknown>, key, value: unknown) {
    // Asked of the holder: a Buffer among the values has turned itself into JSON already.
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

/** Cuts a stream of bytes into messages. */
export class FrameReader {
  #chunks: Uint8Array[] = [];
  #length = 0;
  /** With less than this there is nothing to look at; so the bytes of a long frame are joined only once. */
  #needed = PREFIX_BYTES;

  /** Takes the next bytes and gives the messages they complete. Throws on what no helper of ours sends. */
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
