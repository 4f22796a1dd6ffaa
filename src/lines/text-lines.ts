import { ExecError } from '../protocol/errors.js';
import { TimeSlice } from '../protocol/time-slice.js';
import type { LinePattern } from './line-pattern.js';
import { SEARCH_SLICE_MS } from './search-slice.js';

const NEWLINE = 0x0a;
/** Bytes searched between two looks at the clock. */
const BLOCK_BYTES = 64 * 1024;

/** The indexes of matching lines. The lines contain no newlines. Throws `aborted`. */
export async function matchingLines(
  pattern: LinePattern,
  lines: readonly string[],
  signal?: AbortSignal,
): Promise<number[]> {
  const bytes = Buffer.from(lines.length === 0 ? '' : `${lines.join('\n')}\n`);
  const scan = pattern.scan();
  const slice = new TimeSlice(SEARCH_SLICE_MS);
  const found: number[] = [];
  let index = 0;
  let isMatched = false;
  for (let from = 0; from < bytes.length; from += BLOCK_BYTES) {
    const block = bytes.subarray(from, from + BLOCK_BYTES);
    for (let at = 0; at < block.length; ) {
      const end = isMatched ? block.indexOf(NEWLINE, at) : -1;
      if (isMatched && end < 0) break;
      if (isMatched) {
        index += 1;
        isMatched = false;
        at = end + 1;
        continue;
      }
      const stop = scan.run(block, at);
      at = scan.at;
      if (stop === 'lineEnd') index += 1;
      isMatched = stop === 'match';
      if (isMatched) found.push(index);
      if (stop === 'tired') await turn(slice, signal);
    }
    if (slice.isOver) await turn(slice, signal);
  }
  return found;
}

async function turn(slice: TimeSlice, signal: AbortSignal | undefined): Promise<void> {
  await slice.yieldNow();
  if (signal?.aborted) throw new ExecError('aborted', 'The search was aborted.');
}
