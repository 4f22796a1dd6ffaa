import type { LineSource, OutputLine, OutputMatches, OutputSearch } from '../contract/index.js';
import { firstLineSince } from './first-line.js';
import {
  DEFAULT_MATCHES,
  lineBytes,
  MAX_ANSWER_BYTES,
  MAX_LINES,
  MAX_SEARCHED_BYTES,
  within,
} from './line-bounds.js';
import { LinePattern } from './line-pattern.js';
import { MatchFinder } from './match-finder.js';
import { OutputCursor } from './output-cursor.js';
import { readLine } from './read-line.js';
import { parseCursor, type SearchPosition, shownCursor } from './search-cursor.js';

/** Returns matching lines, as many as fit into one answer. Throws `invalidParams` for a bad pattern, and `aborted`. */
export async function searchOutput(
  source: LineSource,
  request: OutputSearch,
): Promise<Omit<OutputMatches, 'closed' | 'failure'>> {
  const pattern = new LinePattern(request);
  const start = await startOf(source, request);
  const { cursor } = start;
  if (start.isInside) await cursor.skipLine();
  const finder = new MatchFinder(pattern, cursor);
  const matches: OutputLine[] = [];
  const maxMatches = within(request.maxMatches, { normal: DEFAULT_MATCHES, most: MAX_LINES });
  const enough = cursor.offset + MAX_SEARCHED_BYTES;
  const maxLineBytes = lineBytes(request.maxLineBytes);
  const leavesOpen = (request.waitMs ?? 0) > 0;
  let bytes = 0;
  for (;;) {
    const isFull = matches.length >= maxMatches || bytes >= MAX_ANSWER_BYTES;
    if (isFull || finder.lineStart.offset >= enough) break;
    const room = Math.max(1, Math.floor((MAX_ANSWER_BYTES - bytes) / maxLineBytes));
    const hits = finder.next(Math.min(maxMatches - matches.length, room));
    if (hits === null) break;
    // Without yielding, because output that is only in memory may be gone later.
    for (const hit of hits) {
      const read = readLine(source, hit, maxLineBytes);
      if (!read) continue;
      matches.push(read.found);
      bytes += read.found.bytes.length;
    }
    await cursor.turn({ now: finder.isTired });
  }
  const atEnd = finder.isAtEnd;
  const open = atEnd && (source.closed || !leavesOpen) ? finder.open() : null;
  const last = open && readLine(source, open, maxLineBytes);
  if (last) matches.push(last.found);
  const position: SearchPosition = last ? { ...finder.position, isInside: true } : finder.lineStart;
  return { matches, gaps: cursor.gaps, cursor: shownCursor(position), atEnd };
}

async function startOf(
  source: LineSource,
  { cursor, sinceMs, signal }: OutputSearch,
): Promise<{ cursor: OutputCursor; isInside: boolean }> {
  if (cursor !== undefined) {
    const position = parseCursor(cursor);
    return { cursor: new OutputCursor(source, position, signal), isInside: position.isInside };
  }
  const line = sinceMs === undefined ? 1 : await firstLineSince(source, sinceMs, signal);
  return { cursor: await OutputCursor.atLine(source, line, signal), isInside: false };
}
