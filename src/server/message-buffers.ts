/** Room for the largest chunk of a process (64 KiB) in base64 and what is around it. */
const LENT_BYTES = 96 * 1024;
/** Smaller messages are cheap to make anew, and a large buffer each would be a waste while they wait. */
const WORTH_LENDING_BYTES = 16 * 1024;
/** What is kept between two floods: 1.5 MiB. More are made while more are under way. */
const MAX_KEPT = 16;

const kept: Buffer[] = [];

/** A buffer of at least this size, its content undefined. Made anew for each message they cost more than the sending. */
export function lendBuffer(size: number): Buffer {
  if (size < WORTH_LENDING_BYTES || size > LENT_BYTES) return Buffer.allocUnsafe(size);
  return kept.pop() ?? Buffer.allocUnsafeSlow(LENT_BYTES);
}

/** Nobody uses it any more. One that is never returned is simply lost. */
export function returnBuffer(buffer: Buffer): void {
  if (buffer.length === LENT_BYTES && kept.length < MAX_KEPT) kept.push(buffer);
}
