import type { LineSource, OutputLine } from '../contract/index.js';
import { joinBytes } from '../protocol/join-bytes.js';

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** The line at an offset, as much of it as exists, and the offset of the next line if known. */
export function readLine(
  source: LineSource,
  { line, offset }: { line: number; offset: number },
  maxLineBytes: number,
): { readonly found: OutputLine; readonly behind: number | null } | null {
  const place = source.chunkAt(offset);
  if (!place || place.offset > offset) return null;
  const pieces: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  while (!ended && length <= maxLineBytes) {
    const more = source.bytesAt(offset + length, maxLineBytes + 1 - length);
    if (!more || more.bytes.length === 0 || more.offset > offset + length) break;
    const end = more.bytes.indexOf(NEWLINE);
    ended = end >= 0;
    const piece = ended ? more.bytes.subarray(0, end) : more.bytes;
    // The source reuses its memory.
    pieces.push(Uint8Array.from(piece));
    length += piece.length;
  }
  const bytes = joinBytes(pieces);
  const kept = bytes.subarray(0, Math.min(ended ? withoutReturns(bytes) : length, maxLineBytes));
  const { seq, timeMs, stream } = place;
  const cut = length > maxLineBytes;
  const text = new TextDecoder().decode(kept);
  const found = { line, seq, offset, timeMs, stream, bytes: kept, text, cut };
  return { found, behind: ended ? offset + length + 1 : null };
}

function withoutReturns(bytes: Uint8Array): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === RETURN) end -= 1;
  return end;
}
