/** A block travels as one message beside others; larger ones would hold those up. */
export const MAX_BLOCK_BYTES = 1024 * 1024;
/** Base64 comes in groups of three bytes: a text as long as that of the largest block may hold two more. */
const BUFFER_BYTES = Math.ceil(MAX_BLOCK_BYTES / 3) * 3;
/** What is kept between two streams: 2 MiB. More are made while more are under way. */
const MAX_KEPT = 2;

const kept: Buffer[] = [];

/** Room for the largest block, its content undefined. */
export function lendBlock(): Buffer {
  return kept.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
}

/** Nobody uses it any more. One that is never returned is simply lost. */
export function returnBlock(block: Buffer): void {
  if (kept.length < MAX_KEPT) kept.push(block);
}
