import { ExecError } from '../protocol/errors.js';
import type { LinePattern } from './line-pattern.js';
import { Turns } from './turns.js';

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
  const turns = new Turns();
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
      if (stop === 'tired') await turn(turns, signal);
    }
    if (turns.isOver) await turn(turns, signal);
  }
  return found;
}

async function turn(turns: Turns, signal: AbortSignal | undefined): Promise<void> {
  await turns.next();
  if (signal?.aborted) throw new ExecError('aborted', 'The search was aborted.');
}
