/** Bytes of a file in one part: a multiple of three, so that base64 parts join without padding, and just above 1 MiB. */
export const PART_SOURCE_BYTES = 3 * 349_526;
/** What is around the bytes of an answer: its id and the names of members. */
const ENVELOPE_BYTES = 4 * 1024;
/** Room for that in base64 and what is around it. */
export const PART_BYTES = (PART_SOURCE_BYTES / 3) * 4 + ENVELOPE_BYTES;
/** What is kept between two streams: 4.2 MB. More are made while more are under way. */
const MAX_KEPT = 3;

const kept: Buffer[] = [];

/** A buffer of PART_BYTES, its content undefined. Made anew for each part they would cost more than the sending. */
export function lendPart(): Buffer {
  return kept.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES);
}

/** Nobody uses it any more. One that is never returned is simply lost. */
export function returnPart(buffer: Buffer): void {
  if (kept.length < MAX_KEPT) kept.push(buffer);
}
