import { type LineBatch, type LineOptions, outputLines } from './output-lines.js';
import type { ToolSession } from './tool-session.js';

export interface LinesRequest extends LineOptions {
  /** First requested line, counted from 1. */
  readonly from: number;
  /** Only this many of the last lines. */
  readonly tail?: number | undefined;
}

/** Lines of a session, starting at or before the first requested one. */
export interface SessionLines {
  readonly batches: AsyncIterable<LineBatch>;
  readonly from: number;
  /** Number of lines before the first batch. */
  readonly skipped: number;
  /** The total number of lines, if it is known without reading them. */
  readonly total?: number;
}

/**
 * Finds lines in everything a session has printed so far. Output with gaps is numbered by what is left of it, and the
 * index does not hold raw lines, so both are read from the beginning.
 */
export async function sessionLines(
  { transcript, live }: Pick<ToolSession, 'transcript' | 'live'>,
  request: LinesRequest,
): Promise<SessionLines> {
  const { from, tail, ...options } = request;
  const to = transcript.end;
  if (options.raw || transcript.lostBytes > 0) {
    const read = (): AsyncIterable<LineBatch> => outputLines(transcript, { ...options, from: 0, to });
    const first = tail === undefined ? from : Math.max(from, (await countLines(read())) - tail + 1);
    return { batches: read(), from: first, skipped: 0 };
  }
  const total = live.lineCount;
  const first = tail === undefined ? from : Math.max(from, total - tail + 1);
  const { position, lines } = live.index.before(first);
  return {
    batches: outputLines(transcript, { ...options, from: first > total ? to : position, to }),
    from: first,
    skipped: lines,
    total,
  };
}

async function countLines(batches: AsyncIterable<LineBatch>): Promise<number> {
  let count = 0;
  for await (const { lines } of batches) count += lines.length;
  return count;
}
