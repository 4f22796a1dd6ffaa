import type { ProcessSummary, SignalName } from '../contract/index.js';
import { type ExecParams, type ExecResult, isExecError } from '../protocol/index.js';
import type { ExecClient } from './connection/exec-client.js';
import { unsupported } from './connection/remote-errors.js';

/** A row in the list of all processes of a server. */
export interface ServerProcess extends ProcessSummary {
  /** Process ids are unique only within a session. */
  readonly sessionId: string;
}

/** A process of any session. */
interface ProcessOnServer {
  readonly processId: string;
  readonly sessionId: string;
}

export async function listServerProcesses(client: ExecClient): Promise<ServerProcess[]> {
  const { processes } = await listWithDetails(client);
  return processes.map((row) => ({ ...row, sessionId: row.sessionId ?? client.sessionId }));
}

export async function terminateOnServer(
  client: ExecClient,
  process: ProcessOnServer & { graceMs?: number },
): Promise<boolean> {
  // A server that ignores `sessionId` would terminate one of our own processes instead.
  if (!client.introduced) await client.ready();
  return (await callServerView(client, 'process/terminate', process)).running;
}

export async function signalOnServer(
  client: ExecClient,
  process: ProcessOnServer & { signal: SignalName },
): Promise<void> {
  // A server that ignores `sessionId` would signal one of our own processes instead.
  if (!client.introduced) await client.ready();
  if (!client.serverCapabilities.serverSignals)
    throw unsupported('signals to the processes of other connections');
  await client.call('process/signal', process);
}

async function listWithDetails(client: ExecClient): Promise<ExecResult<'process/list'>> {
  const plain = { scope: 'server' } as const;
  if (client.introduced && !client.serverCapabilities.processDetails)
    return await callServerView(client, 'process/list', plain);
  try {
    return await callServerView(client, 'process/list', { ...plain, details: true });
  } catch (error) {
    // Asked before its capabilities were known.
    if (!isExecError(error, 'invalidParams')) throw error;
    return await callServerView(client, 'process/list', plain);
  }
}

/** Sent before the server's capabilities are known; the answer is ignored if the server does not offer this view. */
async function callServerView<Name extends 'process/list' | 'process/terminate'>(
  client: ExecClient,
  method: Name,
  params: ExecParams<Name>,
): Promise<ExecResult<Name>> {
  const answer = client.isOpening ? client.call(method, params) : undefined;
  answer?.catch(() => undefined);
  if (!client.introduced) await client.ready();
  if (!client.serverCapabilities.serverProcesses)
    throw unsupported('a view of the processes of other connections');
  return await (answer ?? client.call(method, params));
}
