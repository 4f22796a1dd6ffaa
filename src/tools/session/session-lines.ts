import { type LineBatch, type LineOptions, outputLines } from './output-lines.js';
import type { ToolSession } from './tool-session.js';

export interface LinesRequest extends LineOptions {
  /** First line wanted, counted from 1. */
  readonly from: number;
  /** Only the last lines, this many. */
  readonly tail?: number | undefined;
}

/** Lines of a session, from somewhere before the first one wanted. */
export interface SessionLines {
  readonly batches: AsyncIterable<LineBatch>;
  readonly from: number;
  /** Lines before those in `batches`. */
  readonly skipped: number;
  /** The number of all lines, unless they have to be read for that. */
  readonly total?: number;
}

/**
 * Finds lines of everything a session has printed so far. An output that could not be kept as a whole is numbered by
 * what is left of it, and raw lines are not those of the index: both are read from the beginning.
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
