import type { LinesState, OutputLine, ProcessLog } from '../../contract/index.js';
import { readLogLines, type SearchableLog, searchLog } from '../../lines/index.js';
import { encodeBase64, ExecError, type ExecParsedParams, type ExecResult } from '../../protocol/index.js';
import { LargeAnswer } from '../../rpc/index.js';
import type { ProcessContext } from './process-context.js';
import { storedOutput } from './stored-output.js';

type WireLine = ExecResult<'process/search'>['matches'][number];

/** `process/search`; given up when the connection ends. */
export async function searchLines(
  context: ProcessContext,
  params: ExecParsedParams<'process/search'>,
): Promise<LargeAnswer<ExecResult<'process/search'>>> {
  const { pattern, regex, caseSensitive, maxMatches, cursor } = params;
  const request = {
    ...present({ regex, caseSensitive, maxMatches, cursor }),
    ...wanted(context, params),
    pattern,
  };
  const { matches, ...found } = await inLog(context, params.processId, (log) => searchLog(log, request));
  return new LargeAnswer(() => ({ ...found, matches: matches.map(wireLine), ...stateOf(found) }));
}

/** `process/lines`; given up when the connection ends. */
export async function linesByNumber(
  context: ProcessContext,
  params: ExecParsedParams<'process/lines'>,
): Promise<LargeAnswer<ExecResult<'process/lines'>>> {
  const { from, to } = params;
  const request = { ...present({ from, to }), ...wanted(context, params) };
  const { lines, ...found } = await inLog(context, params.processId, (log) => readLogLines(log, request));
  return new LargeAnswer(() => ({ ...found, lines: lines.map(wireLine), ...stateOf(found) }));
}

/** A process of the session, a kept one, or the output that one left on disk. */
async function inLog<Found>(
  context: ProcessContext,
  processId: string,
  look: (log: SearchableLog) => Promise<Found>,
): Promise<Found> {
  const { session, keep } = context;
  const live: ProcessLog | undefined = session().find(processId)?.log ?? keep.find(processId)?.process.log;
  if (live) return await look(live);
  const stored = await storedOutput(context, processId);
  if (!stored) throw new ExecError('processNotFound', 'unknown process id', { data: { processId } });
  try {
    return await look(stored);
  } finally {
    stored.close();
  }
}

function wanted(
  { gone }: ProcessContext,
  { sinceMs, maxLineBytes, waitMs }: ExecParsedParams<'process/lines'>,
): { signal: AbortSignal; sinceMs?: number; maxLineBytes?: number; waitMs?: number } {
  return { ...present({ sinceMs, maxLineBytes, waitMs }), signal: gone };
}

/** Null and absent mean the same on the wire. */
function present<Values extends object>(
  values: Values,
): { [Name in keyof Values]?: NonNullable<Values[Name]> } {
  // Only members that have a value are left.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null)) as {
    [Name in keyof Values]?: NonNullable<Values[Name]>;
  };
}

function wireLine({ line, seq, offset, timeMs, stream, bytes, cut }: OutputLine): WireLine {
  return { line, seq, offset, timeMs, stream, chunk: encodeBase64(bytes), cut };
}

function stateOf({ gaps }: LinesState): { gaps: { beforeLine: number; lostBytes: number }[] } {
  return { gaps: [...gaps] };
}
