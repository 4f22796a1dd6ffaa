import type { CodeRange } from './code-ranges.js';

/** Bytes from `[0]` up to and including `[1]`. */
export type ByteRange = readonly [number, number];

/** The last code point of each UTF-8 length. */
const LAST_OF_LENGTH = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/** The UTF-8 forms of a range of code points: each a sequence of byte ranges. */
export function utf8Sequences(range: CodeRange): ByteRange[][] {
  const sequences: ByteRange[][] = [];
  let [from] = range;
  for (const [index, last] of LAST_OF_LENGTH.entries()) {
    const to = Math.min(range[1], last);
    if (from > to) continue;
    sequences.push(...sameLength(encoded(from, index + 1), encoded(to, index + 1)));
    from = to + 1;
  }
  return sequences;
}

/** Splits the range between two encodings of equal length so that each byte has an independent range. */
function sameLength(from: readonly number[], to: readonly number[]): ByteRange[][] {
  const [low = 0, ...lowRest] = from;
  const [high = 0, ...highRest] = to;
  if (lowRest.length === 0) return [[[low, high]]];
  if (low === high) return sameLength(lowRest, highRest).map((rest) => [[low, low], ...rest]);
  const least = lowRest.map(() => 0x80);
  const most = lowRest.map(() => 0xbf);
  const [isLeast, isMost] = [lowRest.every((byte) => byte === 0x80), highRest.every((byte) => byte === 0xbf)];
  const first = isLeast ? low : low + 1;
  const last = isMost ? high : high - 1;
  const whole: ByteRange[] = [[first, last], ...least.map((): ByteRange => [0x80, 0xbf])];
  return [
    ...(isLeast ? [] : sameLength(lowRest, most).map((rest): ByteRange[] => [[low, low], ...rest])),
    ...(first <= last ? [whole] : []),
    ...(isMost ? [] : sameLength(least, highRest).map((rest): ByteRange[] => [[high, high], ...rest])),
  ];
}

function encoded(code: number, length: number): number[] {
  if (length === 1) return [code];
  const rest: number[] = [];
  let left = code;
  for (let index = 1; index < length; index += 1) {
    rest.unshift(0x80 | (left & 0x3f));
    left >>>= 6;
  }
  const mark = [0, 0, 0xc0, 0xe0, 0xf0][length] ?? 0;
  return [mark | left, ...rest];
}

/** Whether a byte can only continue a character. */
export function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte <= 0xbf;
}

/** How many bytes follow in a character that begins with this byte; 0 if none can. */
export function missingAfter(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return 0;
  if (byte < 0xe0) return 1;
  return byte < 0xf0 ? 2 : 3;
}
