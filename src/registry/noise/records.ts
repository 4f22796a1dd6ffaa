/** Most that is sealed at once. */
export const MAX_RECORD_BYTES = 61_440;
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const LENGTH_BYTES = 4;

/** A message as the texts of records: its length, then itself. */
export function* recordsOf(message: Uint8Array): Generator<Uint8Array> {
  if (message.length > MAX_MESSAGE_BYTES) throw new RangeError('the message is too long');
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(message.length);
  yield Buffer.concat([length, message.subarray(0, MAX_RECORD_BYTES - LENGTH_BYTES)]);
  for (let at = MAX_RECORD_BYTES - LENGTH_BYTES; at < message.length; at += MAX_RECORD_BYTES)
    yield message.subarray(at, at + MAX_RECORD_BYTES);
}

/** Puts messages together again. A record may end one message and begin another. */
export class MessageReader {
  #parts: Uint8Array[] = [];
  #size = 0;

  /** The messages that are complete now. Throws if the other side does not keep to the form. */
  add(record: Uint8Array): Buffer[] {
    this.#parts.push(record);
    this.#size += record.length;
    const messages: Buffer[] = [];
    for (;;) {
      const length = this.#length();
      if (length === undefined || this.#size < LENGTH_BYTES + length) return messages;
      const whole = Buffer.concat(this.#parts);
      messages.push(whole.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
      this.#parts = [whole.subarray(LENGTH_BYTES + length)];
      this.#size -= LENGTH_BYTES + length;
    }
  }

  #length(): number | undefined {
    if (this.#size < LENGTH_BYTES) return undefined;
    // The first part is hardly ever that short.
    if ((this.#parts[0]?.length ?? 0) < LENGTH_BYTES) this.#parts = [Buffer.concat(this.#parts)];
    const first = this.#parts[0] ?? new Uint8Array();
    const length = Buffer.from(first.buffer, first.byteOffset, first.length).readUInt32BE();
    if (length === 0 || length > MAX_MESSAGE_BYTES)
      throw new RangeError('a message has an impossible length');
    return length;
  }
}
