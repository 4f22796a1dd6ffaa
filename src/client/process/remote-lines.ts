import type {
  LinesPage,
  LinesRequest,
  OutputLine,
  OutputMatches,
  OutputSearch,
} from '../../contract/index.js';
import { decodeBase64, ExecError, type ExecResult } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';

type WireLine = ExecResult<'process/search'>['matches'][number];

/** An answer may take this much longer than a request asked it to wait. */
const ANSWER_MS = 60_000;

/** Searches on the server, so that only matches travel. */
export async function searchRemote(
  client: ExecClient,
  processId: string,
  { signal, ...request }: OutputSearch,
): Promise<OutputMatches> {
  await requireLinesReady(client);
  const timeoutMs = (request.waitMs ?? 0) + ANSWER_MS;
  const call = client.call('process/search', { processId, ...request }, { timeoutMs });
  const { matches, ...found } = await unlessAborted(call, signal);
  return { ...found, matches: matches.map(lineOf) };
}

export async function readRemoteLines(
  client: ExecClient,
  processId: string,
  { signal, ...request }: LinesRequest,
): Promise<LinesPage> {
  await requireLinesReady(client);
  const timeoutMs = (request.waitMs ?? 0) + ANSWER_MS;
  const call = client.call('process/lines', { processId, ...request }, { timeoutMs });
  const { lines, ...found } = await unlessAborted(call, signal);
  return { ...found, lines: lines.map(lineOf) };
}

async function requireLinesReady(client: ExecClient): Promise<void> {
  if (!client.introduced) await client.ready();
  requireLines(client);
}

/** Throws `unsupported` if the server cannot find lines. */
export function requireLines(client: ExecClient): void {
  if (client.serverCapabilities.processLines) return;
  throw new ExecError(
    'unsupported',
    'This server cannot search output or find it by time. Update the server, or read all of its output.',
  );
}

function lineOf({ chunk, ...line }: WireLine): OutputLine {
  const bytes = decodeBase64(chunk, 'protocolViolation');
  return { ...line, bytes, text: new TextDecoder().decode(bytes) };
}

/** The server is not told: each of its answers is bounded. */
async function unlessAborted<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  if (!signal) return await answer;
  let give: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    give = () => reject(new ExecError('aborted', 'The search was aborted.'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', give);
  }
}
