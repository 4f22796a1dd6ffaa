import * as zlib from 'node:zlib';

/** Only the end of a longer chunk is summed: summing all of it would cost as much as writing it. */
const SUMMED_BYTES = 256;

/** Added to Node in 20.15. */
const native: unknown = (zlib as { crc32?: unknown }).crc32;

/**
 * CRC-32 of a chunk of output, continued from `start`. A chunk that was written only partly almost always lacks its end, so
 * the end is what is checked.
 */
export function checkSum(output: Uint8Array, start: number): number {
  return crc32(output.length <= SUMMED_BYTES ? output : output.subarray(-SUMMED_BYTES), start);
}

const crc32 =
  typeof native === 'function' ? (native as (bytes: Uint8Array, start: number) => number) : portableCrc32;

/** @internal */
function portableCrc32(bytes: Uint8Array, start: number): number {
  table ??= makeTable();
  let sum = ~start;
  for (const byte of bytes) sum = (sum >>> 8) ^ (table[(sum ^ byte) & 0xff] ?? 0);
  return ~sum >>> 0;
}

let table: Uint32Array | undefined;

function makeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    return sum;
  });
}
