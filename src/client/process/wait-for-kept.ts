import { endOf, exitFacts, nothingKept, type ProcessEnd } from '../../contract/index.js';
import { isExecError } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';

/** How a process that the server keeps has ended, or will. We need not be attached to it. */
export async function waitForKept(client: ExecClient, processId: string): Promise<ProcessEnd> {
  if (!client.introduced) await client.ready();
  if (!client.serverCapabilities.leases) throw nothingKept();
  try {
    const timeoutMs = Number.POSITIVE_INFINITY;
    return endOf(exitFacts(await client.call('process/wait', { processId }, { timeoutMs })));
  } catch (error) {
    if (!isExecError(error, 'connectionClosed') && !isExecError(error, 'contactLost')) throw error;
    return { kind: 'contactLost', error };
  }
}
