import type { ProcessSpec } from '../../contract/index.js';
import { type ExecParams, isExecError, type SandboxType } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { contactLost, isInvalidRequest, isUnknownProcess } from '../connection/remote-errors.js';
import { RemoteProcess } from './remote-process.js';
import { typeableId } from './typeable-id.js';
import { hasLease, mayStartEarly, type StartContext, startParams } from './start-params.js';

/** Starts a process and returns its handle. A failed start leaves nothing behind. */
export async function startProcess(client: ExecClient, spec: ProcessSpec): Promise<RemoteProcess> {
  if (spec.processId !== undefined || !hasLease(spec))
    return await startAs(spec.processId ?? freshProcessId(), client, spec);
  // Kept processes share their ids with those that other clients have started.
  for (;;) {
    try {
      return await startAs(typeableId(), client, spec);
    } catch (error) {
      if (!isExecError(error, 'processIdInUse')) throw error;
    }
  }
}

async function startAs(processId: string, client: ExecClient, spec: ProcessSpec): Promise<RemoteProcess> {
  const isEarly = client.isOpening && mayStartEarly(spec);
  // From here on the process belongs to the current session and is lost with it.
  if (!isEarly) await client.ready();
  const params = startParams(processId, spec, isEarly ? undefined : knownServer(client));
  const process = new RemoteProcess({ client, processId, spec });
  // Registered before the request leaves: a short process may end before its start is answered.
  client.processes.add(processId, process.feed);
  try {
    const sandboxType = isEarly ? await startEarly(client, params, spec) : await requestStart(client, params);
    process.started(sandboxType);
    return process;
  } catch (error) {
    client.processes.remove(processId, process.feed);
    // Nobody else knows about a process whose start was abandoned. If it exists, it must not be left running.
    if (isExecError(error, 'requestTimeout')) client.call('process/terminate', { processId }).catch(ignore);
    throw error;
  }
}

/**
 * Sends the start right after the handshake. If it is refused without having run, sends it again in the conventional
 * form.
 */
async function startEarly(
  client: ExecClient,
  params: ExecParams<'process/start'>,
  spec: ProcessSpec,
): Promise<SandboxType> {
  try {
    const { sandboxType } = await client.call('process/start', params);
    return sandboxType ?? 'none';
  } catch (error) {
    // Without an answer to the handshake there is no session in which to check whether it is running.
    if (isExecError(error, 'connectionClosed') && client.usable)
      throw contactLost('the connection ended before the server had answered', error);
    if (!isExecError(error, 'invalidParams') && !isInvalidRequest(error)) throw error;
  }
  await client.ready();
  return await requestStart(client, startParams(params.processId, spec, knownServer(client)));
}

/** Sends the start. If the answer was lost, sends it again only if the process does not exist. */
async function requestStart(client: ExecClient, params: ExecParams<'process/start'>): Promise<SandboxType> {
  for (;;) {
    try {
      const { sandboxType } = await client.call('process/start', params, { sameSession: true });
      return sandboxType ?? 'none';
    } catch (error) {
      if (!isExecError(error, 'connectionClosed') || !client.usable) throw error;
    }
    if (await exists(client, params.processId)) return impliedSandbox(client, params);
  }
}

async function exists(client: ExecClient, processId: string): Promise<boolean> {
  try {
    // No event number is this high, so the answer contains no output.
    await client.call('process/read', { processId, afterSeq: Number.MAX_SAFE_INTEGER });
    return true;
  } catch (error) {
    if (isUnknownProcess(error)) return false;
    throw error;
  }
}

function knownServer({ environmentInfo: info, serverCapabilities: capabilities }: ExecClient): StartContext {
  return { info, capabilities };
}

/** What a start whose answer was lost must have returned: a server that cannot enforce a sandbox refuses to start. */
function impliedSandbox(client: ExecClient, params: ExecParams<'process/start'>): SandboxType {
  if (!params.sandbox) return 'none';
  const { platformOs } = client.environmentInfo;
  if (platformOs === 'macos') return 'macosSeatbelt';
  return platformOs === 'windows' ? 'windowsRestrictedToken' : 'linuxSeccomp';
}

let processesStarted = 0;

/** Unique within this program, and unlikely to clash with an id chosen by a caller. */
function freshProcessId(): string {
  processesStarted += 1;
  return `${processesStarted}-${Math.random().toString(36).slice(2, 10)}`;
}

function ignore(): void {
  // Best effort: the process ends with its session in any case.
}
