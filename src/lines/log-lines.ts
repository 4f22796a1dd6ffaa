import type {
  LinesPage,
  LinesRequest,
  LineSource,
  LinesState,
  OutputMatches,
  OutputSearch,
} from '../contract/index.js';
import { readLines } from './read-lines.js';
import { searchOutput } from './search-output.js';

/** A log whose lines can be searched. */
export interface SearchableLog {
  readonly output: LineSource;
  readonly nextSeq: number;
  readonly closed: boolean;
  readonly failure?: string | Error | null | undefined;
  /** Resolves when there is output after a position. Absent if no more will come. */
  news?(afterSeq: number, waitMs: number): Promise<void>;
}

/** A waiting client is checked at least this often, because it may be gone. */
const MAX_WAIT_MS = 15_000;
/** While a client waits, new output is searched at most this often. */
const LOOK_MS = 50;

/** Finds matching lines in a log, or waits for them. */
export async function searchLog(log: SearchableLog, request: OutputSearch): Promise<OutputMatches> {
  let { cursor } = request;
  const gaps: OutputMatches['gaps'][number][] = [];
  return await untilFound(log, request, async () => {
    const state = stateOf(log);
    const found = await searchOutput(log.output, cursor === undefined ? request : { ...request, cursor });
    cursor = found.cursor;
    gaps.push(...found.gaps);
    const answer = { ...found, ...state, gaps };
    return { answer, isReady: found.matches.length > 0 || !found.atEnd || gaps.length > 0 || state.closed };
  });
}

/** Reads lines of a log by number, or waits for them. */
export async function readLogLines(log: SearchableLog, request: LinesRequest = {}): Promise<LinesPage> {
  return await untilFound(log, request, async () => {
    const state = stateOf(log);
    const page = await readLines(log.output, request);
    return { answer: { ...page, ...state }, isReady: page.lines.length > 0 || state.closed };
  });
}

function stateOf({ closed, failure }: SearchableLog): Pick<LinesState, 'closed' | 'failure'> {
  return { closed: closed || failure != null, failure: typeof failure === 'string' ? failure : null };
}

async function untilFound<Answer>(
  log: SearchableLog,
  { waitMs = 0, signal }: { waitMs?: number; signal?: AbortSignal },
  look: () => Promise<{ answer: Answer; isReady: boolean }>,
): Promise<Answer> {
  const until = performance.now() + waitMs;
  for (;;) {
    const seen = log.news ? log.nextSeq - 1 : 0;
    const { answer, isReady } = await look();
    const left = until - performance.now();
    if (isReady || left <= 0 || !log.news || signal?.aborted) return answer;
    await log.news(seen, Math.min(left, MAX_WAIT_MS));
    await pause(Math.min(LOOK_MS, left));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
