import { type LineSource, timeOf } from '../contract/index.js';
import { OutputCursor } from './output-cursor.js';

const NEWLINE = 0x0a;

/** The first line that begins at or after a time. */
export async function firstLineSince(
  source: LineSource,
  sinceMs: number,
  signal?: AbortSignal,
): Promise<number> {
  const offset = source.offsetSince(timeOf(sinceMs));
  const cursor = await OutputCursor.atOffset(source, offset, signal);
  return cursor.line + (beginsLine(source, offset) ? 0 : 1);
}

/** Lines so far. A last one without an end counts as well. */
export async function totalLines(source: LineSource, signal?: AbortSignal): Promise<number> {
  const end = source.totalBytes;
  const { newlines } = await OutputCursor.atOffset(source, end, signal);
  return newlines + (beginsLine(source, end) ? 0 : 1);
}

/** Whether an offset is behind a newline, or the beginning. What cannot be known counts as a beginning. */
function beginsLine(source: LineSource, offset: number): boolean {
  const before = offset === 0 ? undefined : source.bytesAt(offset - 1, 1);
  return before?.offset !== offset - 1 || before.bytes[0] === NEWLINE;
}
