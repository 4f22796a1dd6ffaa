import { positionAfter, type ProcessLog } from '../../contract/index.js';
import { readLogLines } from '../../lines/index.js';
import type { ExecParsedParams } from '../../protocol/index.js';

type Tail = NonNullable<ExecParsedParams<'process/attach'>['tail']>;

const NEWLINE = 0x0a;
/** Lines are looked for within this much output in memory. */
const LOOKED_AT_BYTES = 1024 * 1024;

/** A position, or the one before the exit if that is earlier: whoever attaches learns how the process has ended. */
export function beforeEnd({ exit }: ProcessLog, position: number): number {
  return exit ? Math.min(position, exit.seq - 1) : position;
}

/** A position that is followed by the end of the output, as much as is wanted and about a chunk more or less. */
export async function positionOfTail(log: ProcessLog, tail: Tail, signal: AbortSignal): Promise<number> {
  if ('bytes' in tail) return positionBeforeBytes(log, tail.bytes);
  const { position, isComplete } = positionInMemory(log, tail.lines);
  return isComplete || !log.isArchived ? position : await positionOnDisk(log, tail.lines, signal);
}

function positionBeforeBytes(log: ProcessLog, bytes: number): number {
  const from = Math.max(0, log.totalBytes - bytes);
  const chunk = log.output.chunkAt(from);
  if (!chunk) return log.nextSeq - 1;
  return chunk.offset < from ? chunk.seq : chunk.seq - 1;
}

async function positionOnDisk(log: ProcessLog, count: number, signal: AbortSignal): Promise<number> {
  const request = { from: -count, to: -count, maxLineBytes: 1, signal };
  const { lines, totalLines } = await readLogLines(log, request);
  const [first] = lines;
  return first && totalLines >= count ? first.seq - 1 : 0;
}

/** `isComplete`: there are enough lines in memory. */
function positionInMemory(log: ProcessLog, count: number): { position: number; isComplete: boolean } {
  const begin = log.positionBeforeLast(LOOKED_AT_BYTES);
  const ends: number[] = [];
  let [position, endsOpen] = [begin, false];
  for (let event = log.next(position); event; event = log.next(position)) {
    if (event.type === 'output') {
      for (let at = event.bytes.indexOf(NEWLINE); at >= 0; at = event.bytes.indexOf(NEWLINE, at + 1))
        ends.push(at === event.bytes.length - 1 ? event.seq : position);
      endsOpen = event.bytes.at(-1) !== NEWLINE;
    }
    position = positionAfter(event);
  }
  if (count === 0) return { position, isComplete: true };
  // Where the line before the first one wanted ends.
  const end = ends.at(-(count + (endsOpen ? 0 : 1)));
  return { position: end ?? begin, isComplete: end !== undefined };
}
