import { type ErrorCode, ExecError, isExecError } from '../../protocol/index.js';
import { withDeadline } from '../../transport/deadline.js';
import type { ExecClient } from '../connection/exec-client.js';
import type { ProcessFeed } from './process-feed.js';

/** How long the last events of a process may take when it is disposed of. */
const DISPOSE_LIMIT_MS = 5_000;

/** The server lets go by itself when the session ends. */
const OUT_OF_REACH: readonly ErrorCode[] = ['contactLost', 'connectionClosed', 'requestTimeout'];

interface Followed {
  readonly processId: string;
  readonly feed: ProcessFeed;
}

/** Lets go of a process that continues. Those still reading are told that there will be no more. */
export async function detachProcess(client: ExecClient, { processId, feed }: Followed): Promise<void> {
  const told = client.call('process/detach', { processId }, { timeoutMs: DISPOSE_LIMIT_MS });
  feed.lost(new ExecError('aborted', 'This handle is detached from the process, which keeps running.'));
  await told.catch((error: unknown) => {
    if (!OUT_OF_REACH.some((code) => isExecError(error, code))) throw error;
  });
}

/** Waits for the last events of a process, but not for long. */
export async function endInTime(ended: Promise<unknown>): Promise<void> {
  await withDeadline(ended, {
    timeoutMs: DISPOSE_LIMIT_MS,
    what: 'Ending a process',
    late: () => new ExecError('requestTimeout', 'The end of the process was not confirmed in time.'),
  });
}
