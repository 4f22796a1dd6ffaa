import { isExecError } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { type PastOutput, type PastPart, pastOutput } from './past-output.js';

/** What a process that the server no longer knows has left on disk; null if there is nothing. */
export async function storedOutput(
  client: ExecClient,
  processId: string,
  part: PastPart,
): Promise<AsyncGenerator<PastOutput, void> | null> {
  if (!client.serverCapabilities.spool) return null;
  try {
    await client.call('process/read', { processId, maxBytes: 1 });
  } catch (error) {
    if (isExecError(error, 'processNotFound')) return null;
    throw error;
  }
  return pastOutput(client, { processId, upTo: Number.POSITIVE_INFINITY, ...part });
}
