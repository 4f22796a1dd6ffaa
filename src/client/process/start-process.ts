import type { ProcessSpec } from '../../contract/index.js';
import { type ExecParams, isExecError, type SandboxType } from '../../protocol/index.js';
import type { ExecClient } from '../connection/exec-client.js';
import { contactLost, isInvalidRequest, isUnknownProcess } from '../connection/remote-errors.js';
import { RemoteProcess } from './remote-process.js';
import { goesAhead, type StartContext, startParams } from './start-params.js';

/** Starts a process and returns its handle. A failed start leaves nothing behind. */
export async function startProcess(client: ExecClient, spec: ProcessSpec): Promise<RemoteProcess> {
  const processId = spec.processId ?? freshProcessId();
  const isAhead = client.isOpening && goesAhead(spec);
  // From here on the process belongs to the session there is now: if that is lost, so is the process.
  if (!isAhead) await client.ready();
  const params = startParams(processId, spec, isAhead ? undefined : knownServer(client));
  const process = new RemoteProcess({ client, processId, spec });
  // Before the request leaves: a short process may be over before its start is answered.
  client.processes.add(processId, process.feed);
  try {
    const sandboxType = isAhead ? await startAhead(client, params, spec) : await requestStart(client, params);
    process.started(sandboxType);
    return process;
  } catch (error) {
    client.processes.remove(processId, process.feed);
    // Nobody knows of a process whose start was given up; if it exists, it must not stay.
    if (isExecError(error, 'requestTimeout')) client.call('process/terminate', { processId }).catch(ignore);
    throw error;
  }
}

/** Asks for the start along with the handshake; when that is refused and ran nothing, asks again as it is asked elsewhere. */
async function startAhead(
  client: ExecClient,
  params: ExecParams<'process/start'>,
  spec: ProcessSpec,
): Promise<SandboxType> {
  try {
    const { sandboxType } = await client.call('process/start', params);
    return sandboxType ?? 'none';
  } catch (error) {
    // Without the answer to the handshake there is no session to look in, and no way to tell whether it runs.
    if (isExecError(error, 'connectionClosed') && client.usable)
      throw contactLost('the connection ended before the server had answered', error);
    if (!isExecError(error, 'invalidParams') && !isInvalidRequest(error)) throw error;
  }
  await client.ready();
  return await requestStart(client, startParams(params.processId, spec, knownServer(client)));
}

/** Asks for the start; when the answer got lost, asks again only if the process does not exist. */
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
    // Numbers never get this high: the answer holds no output.
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

/** What a start whose answer got lost must have answered: a server that cannot confine refuses to start. */
function impliedSandbox(client: ExecClient, params: ExecParams<'process/start'>): SandboxType {
  if (!params.sandbox) return 'none';
  const { platformOs } = client.environmentInfo;
  if (platformOs === 'macos') return 'macosSeatbelt';
  return platformOs === 'windows' ? 'windowsRestrictedToken' : 'linuxSeccomp';
}

let processesStarted = 0;

/** Unique within this program, and unlikely to meet an id somebody chose. */
function freshProcessId(): string {
  processesStarted += 1;
  return `${processesStarted}-${Math.random().toString(36).slice(2, 10)}`;
}

function ignore(): void {
  // Best effort: the session takes the process along in any case.
}
