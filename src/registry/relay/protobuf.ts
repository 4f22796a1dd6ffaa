const VARINT = 0;
const BYTES = 2;
/** Fixed-size wire types. Nobody sends them today, but newer versions may. */
const FIXED: Record<number, number> = { 1: 8, 5: 4 };

/** One field of a message: a number, or bytes. */
export type Field =
  | { readonly id: number; readonly number: number }
  | { readonly id: number; readonly bytes: Uint8Array };

/** Reads the fields of a protobuf message; bytes are views of it. Throws if it is invalid. */
export function readFields(message: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = message[at];
      if (byte === undefined) throw new RangeError('the message ends in the middle of a number');
      at += 1;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a number is too long');
  };
  const take = (count: number): Uint8Array => {
    if (count > message.length - at) throw new RangeError('the message ends in the middle of a field');
    at += count;
    return message.subarray(at - count, at);
  };
  while (at < message.length) {
    const tag = varint();
    const [id, kind] = [Math.floor(tag / 8), tag % 8];
    const size = FIXED[kind];
    if (id === 0) throw new RangeError('a field has no number');
    if (kind === VARINT) fields.push({ id, number: varint() });
    else if (kind === BYTES) fields.push({ id, bytes: take(varint()) });
    else if (size !== undefined) take(size);
    else throw new RangeError('a field is of an unknown kind');
  }
  return fields;
}

/** Writes a message. Zeros are omitted, as the format requires. */
export function writeFields(fields: readonly Field[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const field of fields) {
    if ('bytes' in field)
      parts.push(varintBytes(field.id * 8 + BYTES), varintBytes(field.bytes.length), field.bytes);
    else if (field.number !== 0) parts.push(varintBytes(field.id * 8 + VARINT), varintBytes(field.number));
  }
  return Buffer.concat(parts);
}

function varintBytes(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Uint8Array.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
}
