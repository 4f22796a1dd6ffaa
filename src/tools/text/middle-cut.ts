const NEWLINE = 0x0a;

/** Replaces the removed middle. */
export function cutMarker(tokens: number): string {
  return `…${tokens} tokens truncated…`;
}

/** The two ends of a text that fit a budget together with the marker between them. */
export interface Ends {
  readonly prefix: Buffer;
  readonly suffix: Buffer;
}

/**
 * Chooses what to keep of a text that is too long: about half the budget from each end, whole lines where possible,
 * whole characters always. Null if the marker leaves no room.
 */
export function chooseEnds(source: {
  head: Buffer;
  tail: Buffer;
  maxBytes: number;
  marker: string;
}): Ends | null {
  const { head, tail, maxBytes, marker } = source;
  // The marker is on a line of its own, so its size includes a newline on either side.
  const room = maxBytes - Buffer.byteLength(marker) - 2;
  if (room <= 0) return null;
  const left = Math.floor(room / 2);
  const prefix = head.subarray(0, prefixEnd(head, left));
  const suffix = tail.subarray(suffixStart(tail, room - left));
  return prefix.length + suffix.length === 0 ? null : { prefix, suffix };
}

/** Puts the marker between the ends, on a line of its own. */
export function joinEnds({ prefix, suffix }: Ends, marker: string): string {
  const lineBegun = prefix.length > 0 && prefix.at(-1) !== NEWLINE;
  return `${prefix.toString()}${lineBegun ? '\n' : ''}${marker}${suffix.length > 0 ? '\n' : ''}${suffix.toString()}`;
}

function prefixEnd(head: Buffer, limit: number): number {
  if (limit >= head.length) return head.length;
  // A newline right after the limit can replace the marker's own.
  const lineEnd = head.lastIndexOf(NEWLINE, limit) + 1;
  if (lineEnd > 0) return lineEnd;
  let end = limit;
  while (end > 0 && isContinuation(head[end])) end -= 1;
  return end;
}

function suffixStart(tail: Buffer, limit: number): number {
  const earliest = Math.max(0, tail.length - limit);
  const lineStart = earliest === 0 ? 0 : tail.indexOf(NEWLINE, earliest - 1) + 1;
  // The newline that ends the text does not start a line.
  if (lineStart > 0 && lineStart < tail.length) return lineStart;
  let start = earliest;
  while (start < tail.length && isContinuation(tail[start])) start += 1;
  return start;
}

/** Bytes 2 to 4 of a UTF-8 character. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
