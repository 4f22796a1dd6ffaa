import type { LinesPage, LinesRequest, LineSource, OutputLine } from '../contract/index.js';
import { firstLineSince, totalLines } from './first-line.js';
import { lineBytes, MAX_ANSWER_BYTES, MAX_LINES } from './line-bounds.js';
import { OutputCursor } from './output-cursor.js';
import { readLine } from './read-line.js';

const NEWLINE = 0x0a;
/** Lines are read from blocks of this size, because most pages are small. */
const PAGE_BLOCK_BYTES = 64 * 1024;

/** Returns a range of lines, as many as fit into one answer. Throws `aborted`. */
export async function readLines(
  source: LineSource,
  request: LinesRequest,
): Promise<Omit<LinesPage, 'closed' | 'failure'>> {
  const { signal, sinceMs } = request;
  const total = await totalLines(source, signal);
  const since = sinceMs === undefined ? 1 : await firstLineSince(source, sinceMs, signal);
  const first = Math.max(fromStart(request.from ?? 1, total), since);
  const last = Math.min(fromStart(request.to ?? -1, total), total);
  if (first > last) return { lines: [], gaps: [], totalLines: total, nextLine: null };
  const cursor = await OutputCursor.atLine(source, first, signal);
  const page = await takeLines(source, cursor, { ...request, last });
  const { lines, isFull } = page;
  return { lines, gaps: cursor.gaps, totalLines: total, nextLine: isFull ? cursor.line : null };
}

async function takeLines(
  source: LineSource,
  cursor: OutputCursor,
  { last, maxLineBytes, waitMs }: LinesRequest & { last: number },
): Promise<{ lines: OutputLine[]; isFull: boolean }> {
  const lines: OutputLine[] = [];
  const most = lineBytes(maxLineBytes);
  let bytes = 0;
  while (cursor.line <= last) {
    if (lines.length >= MAX_LINES || bytes >= MAX_ANSWER_BYTES) return { lines, isFull: true };
    if (!cursor.block(1)) break;
    const { offset } = cursor;
    const read = readLine(source, cursor, most);
    if (!read) break;
    const { found, behind } = read;
    if (behind !== null) cursor.advance(behind - offset, 1);
    else if (!(await skipLine(cursor)) && waitMs && !source.closed) break;
    lines.push(found);
    bytes += found.bytes.length;
    await cursor.turn();
  }
  return { lines, isFull: false };
}

/** Moves past the end of the line. Returns false if it has not ended yet, or the end is gone. */
async function skipLine(cursor: OutputCursor): Promise<boolean> {
  const { jumps } = cursor;
  for (let block = cursor.block(PAGE_BLOCK_BYTES); block; block = cursor.block(PAGE_BLOCK_BYTES)) {
    if (cursor.jumps !== jumps) return true;
    const end = block.indexOf(NEWLINE);
    cursor.advance(end < 0 ? block.length : end + 1, end < 0 ? 0 : 1);
    if (end >= 0) return true;
    await cursor.turn();
  }
  return false;
}

/** Resolves negative line numbers, which count from the end. */
function fromStart(line: number, total: number): number {
  return line < 0 ? Math.max(1, total + line + 1) : Math.max(1, line);
}
