import type { ReadResult } from '../../contract/index.js';
import { decodeBase64 } from '../../protocol/base64.js';
import type { ExecClient } from '../connection/exec-client.js';
import { requireLines } from './remote-lines.js';

/** Reads output that our copy of the log no longer has, or of which only the server knows when it came. */
export async function readOnServer(
  client: ExecClient,
  processId: string,
  {
    afterSeq,
    maxBytes,
    sinceMs,
  }: { afterSeq: number; maxBytes: number | undefined; sinceMs?: number | undefined },
): Promise<ReadResult> {
  if (sinceMs !== undefined) requireLines(client);
  const limit = {
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
  const {
    chunks,
    failure: _,
    ...state
  } = await client.call('process/read', { processId, afterSeq, ...limit });
  return {
    ...state,
    sandboxDenied: state.sandboxDenied ?? false,
    chunks: chunks.map(({ seq, stream, chunk, lostBytes = 0 }) => ({
      seq,
      stream,
      bytes: decodeBase64(chunk, 'protocolViolation'),
      lostBytes,
    })),
  };
}
