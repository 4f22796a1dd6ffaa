const ESCAPE = 0x1b;
/** The first UTF-8 byte of control characters beyond ASCII, some of which begin a sequence. */
const BEYOND_ASCII = 0xc2;
const INTRODUCERS: readonly number[] = [0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f];
/** How much of an unterminated string is kept. Its beginning tells what it is. */
const MAX_UNFINISHED_BYTES = 4096;

/** The bytes at the end that belong to an incomplete sequence or character. */
export function unfinishedTail(
  bytes: Uint8Array,
  { isWithinSequence }: { isWithinSequence: boolean },
): Uint8Array {
  const start = isWithinSequence ? sequenceStart(bytes) : characterStart(bytes);
  if (start < 0) return bytes.subarray(bytes.length);
  return bytes.slice(start, start + MAX_UNFINISHED_BYTES);
}

function sequenceStart(bytes: Uint8Array): number {
  const escape = bytes.lastIndexOf(ESCAPE);
  for (let at = bytes.length - 2; at > escape; at -= 1)
    if (bytes[at] === BEYOND_ASCII && INTRODUCERS.includes(bytes[at + 1] ?? 0)) return at;
  return escape;
}

/** Where an incomplete UTF-8 character begins; the end if there is none. */
function characterStart(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return neededBytes(byte) > back ? bytes.length - back : bytes.length;
    if (byte < 0x80) break;
  }
  return bytes.length;
}

function neededBytes(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}
