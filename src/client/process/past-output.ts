import type { ReadResult } from '../../contract/index.js';
import { decodeBase64 } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { readRemoteLines, requireLines } from './remote-lines.js';

/** Bytes per request. */
const PAGE_BYTES = 256 * 1024;

/** A piece of output from before we were there. */
export type PastOutput = ReadResult['chunks'][number];

/** Which part of it is wanted. */
export interface PastPart {
  /** From this time on; as in `ReadRequest`. */
  readonly sinceMs?: number | undefined;
  /** At least this many of the last lines, if the server can tell where they begin. */
  readonly lastLines?: number | undefined;
}

/** Reads what the server still has of a process, up to a position. */
export async function* pastOutput(
  client: ExecClient,
  { processId, upTo, ...part }: PastPart & { processId: string; upTo: number },
): AsyncGenerator<PastOutput, void> {
  let afterSeq = await startOf(client, processId, part);
  let since = part.sinceMs === undefined ? {} : { sinceMs: part.sinceMs };
  while (afterSeq < upTo) {
    const page = await client.call('process/read', { processId, afterSeq, maxBytes: PAGE_BYTES, ...since });
    for (const { seq, stream, chunk, lostBytes = 0 } of page.chunks) {
      if (seq > upTo) return;
      yield { seq, stream, bytes: decodeBase64(chunk, 'protocolViolation'), lostBytes };
    }
    if (page.chunks.length === 0) return;
    afterSeq = page.nextSeq - 1;
    since = {};
  }
}

/** The last lines of a large log far away should not cost all of it. */
async function startOf(
  client: ExecClient,
  processId: string,
  { sinceMs, lastLines }: PastPart,
): Promise<number> {
  if (sinceMs !== undefined) requireLines(client);
  if (!lastLines || !client.serverCapabilities.processLines) return 0;
  const from = -lastLines;
  const { lines, totalLines } = await readRemoteLines(client, processId, { from, to: from, maxLineBytes: 1 });
  const [first] = lines;
  return first && totalLines >= lastLines ? first.seq - 1 : 0;
}
