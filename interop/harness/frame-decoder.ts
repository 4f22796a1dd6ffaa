const headEnd = Buffer.from('\r\n\r\n');
const textOrBinary = new Set([1, 2]);
const continuation = 0;

/** A whole message, and how many of the bytes that completed it belong to it and what came before. */
export interface DecodedMessage {
  readonly text: string;
  readonly end: number;
}

/**
 * Reads along with one direction of a WebSocket connection, the HTTP upgrade included, and returns whole
 * messages. It only listens: it answers no ping and checks nothing, both ends do that themselves.
 */
export class FrameDecoder {
  #pending: Buffer = Buffer.alloc(0);
  #upgraded = false;
  #fragments: Buffer[] = [];

  /** Takes the next bytes and returns the messages that became complete with them. */
  push(bytes: Buffer): DecodedMessage[] {
    this.#pending = Buffer.concat([this.#pending, bytes]);
    if (!this.#upgraded && !this.#skipHead()) return [];
    const messages: DecodedMessage[] = [];
    for (let frame = this.#takeFrame(); frame; frame = this.#takeFrame()) {
      if (frame.opcode !== continuation && !textOrBinary.has(frame.opcode)) continue;
      this.#fragments.push(frame.payload);
      if (!frame.final) continue;
      const text = Buffer.concat(this.#fragments).toString('utf8');
      messages.push({ text, end: bytes.length - this.#pending.length });
      this.#fragments = [];
    }
    return messages;
  }

  #skipHead(): boolean {
    const end = this.#pending.indexOf(headEnd);
    if (end < 0) return false;
    this.#pending = this.#pending.subarray(end + headEnd.length);
    this.#upgraded = true;
    return true;
  }

  #takeFrame(): { opcode: number; final: boolean; payload: Buffer } | undefined {
    const header = readHeader(this.#pending);
    if (!header || this.#pending.length < header.size + header.length) return undefined;
    const payload = Buffer.from(this.#pending.subarray(header.size, header.size + header.length));
    this.#pending = this.#pending.subarray(header.size + header.length);
    const { mask } = header;
    if (mask) for (let i = 0; i < payload.length; i += 1) payload[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0);
    return { opcode: header.opcode, final: header.final, payload };
  }
}

/** The frame header of RFC 6455, section 5.2, or undefined while it is incomplete. */
function readHeader(bytes: Buffer) {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const masked = (second & 0x80) !== 0;
  const lengthSize = short === 127 ? 8 : short === 126 ? 2 : 0;
  const size = 2 + lengthSize + (masked ? 4 : 0);
  if (bytes.length < size) return undefined;
  const length =
    lengthSize === 8 ? Number(bytes.readBigUInt64BE(2)) : lengthSize === 2 ? bytes.readUInt16BE(2) : short;
  const mask = masked ? Buffer.from(bytes.subarray(size - 4, size)) : undefined;
  return { opcode: first & 0x0f, final: (first & 0x80) !== 0, size, length, mask };
}
