import type { ReadResult } from '../../contract/index.js';
import { decodeBase64 } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';

/** Bytes per request. */
const PAGE_BYTES = 256 * 1024;

/** A piece of output from before we were there. */
export type PastOutput = ReadResult['chunks'][number];

/** Reads what the server still has of a process, up to a position. */
export async function* pastOutput(
  client: ExecClient,
  { processId, upTo }: { processId: string; upTo: number },
): AsyncGenerator<PastOutput, void> {
  let afterSeq = 0;
  while (afterSeq < upTo) {
    const page = await client.call('process/read', { processId, afterSeq, maxBytes: PAGE_BYTES });
    for (const { seq, stream, chunk, lostBytes = 0 } of page.chunks) {
      if (seq > upTo) return;
      yield { seq, stream, bytes: decodeBase64(chunk, 'protocolViolation'), lostBytes };
    }
    if (page.chunks.length === 0) return;
    afterSeq = page.nextSeq - 1;
  }
}
