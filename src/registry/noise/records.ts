/** The most bytes sealed in one record. */
export const MAX_RECORD_BYTES = 61_440;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;
/** Shorter pieces are joined, so that a long message in tiny records takes little more than its bytes. */
const MIN_PIECE_BYTES = 4096;

/** Splits a message, preceded by its length, into the contents of records. */
export function* recordsOf(message: Uint8Array): Generator<Uint8Array> {
  if (message.length > MAX_MESSAGE_BYTES) throw new RangeError('the message is too long');
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(message.length);
  yield Buffer.concat([length, message.subarray(0, MAX_RECORD_BYTES - LENGTH_BYTES)]);
  for (let at = MAX_RECORD_BYTES - LENGTH_BYTES; at < message.length; at += MAX_RECORD_BYTES)
    yield message.subarray(at, at + MAX_RECORD_BYTES);
}

/** Reassembles messages. One record may contain the end of a message and the start of the next. */
export class MessageReader {
  #parts: Uint8Array[] = [];
  #size = 0;

  /** Returns the messages completed by this record. Throws if the framing is invalid. */
  add(record: Uint8Array): Buffer[] {
    this.#keep(record);
    const messages: Buffer[] = [];
    for (;;) {
      const length = this.#length();
      if (length === undefined || this.#size < LENGTH_BYTES + length) return messages;
      const whole = Buffer.concat(this.#parts);
      messages.push(whole.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
      const rest = whole.subarray(LENGTH_BYTES + length);
      // A copy, which does not keep the whole message in memory.
      this.#parts = rest.length === 0 ? [] : [Uint8Array.from(rest)];
      this.#size -= LENGTH_BYTES + length;
    }
  }

  #keep(record: Uint8Array): void {
    this.#size += record.length;
    const last = this.#parts.at(-1);
    if (last === undefined || last.length >= MIN_PIECE_BYTES) this.#parts.push(record);
    else this.#parts.splice(-1, 1, Buffer.concat([last, record]));
  }

  #length(): number | undefined {
    if (this.#size < LENGTH_BYTES) return undefined;
    // The first part is rarely that short.
    if ((this.#parts[0]?.length ?? 0) < LENGTH_BYTES) this.#parts = [Buffer.concat(this.#parts)];
    const first = this.#parts[0] ?? new Uint8Array();
    const length = Buffer.from(first.buffer, first.byteOffset, first.length).readUInt32BE();
    if (length === 0 || length > MAX_MESSAGE_BYTES)
      throw new RangeError('a message has an impossible length');
    return length;
  }
}
