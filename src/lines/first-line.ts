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

/** The number of lines so far, including an unfinished last one. */
export async function totalLines(source: LineSource, signal?: AbortSignal): Promise<number> {
  const end = source.totalBytes;
  const { newlines } = await OutputCursor.atOffset(source, end, signal);
  return newlines + (beginsLine(source, end) ? 0 : 1);
}

/** Whether a line begins at an offset. If that cannot be known, it counts as a beginning. */
function beginsLine(source: LineSource, offset: number): boolean {
  const before = offset === 0 ? undefined : source.bytesAt(offset - 1, 1);
  return before?.offset !== offset - 1 || before.bytes[0] === NEWLINE;
}
