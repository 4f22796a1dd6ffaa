import type { Environment, ListeningPort } from '../contract/index.js';
import { isExecError } from '../protocol/index.js';
import { answerTimeout } from './input-state.js';
import type { ToolSession } from './session/tool-session.js';

/** The ports that a command, or what it left in the background, listens on. None where that is not known. */
export async function portsOfCommand(
  environment: Environment,
  { process, closed }: ToolSession,
): Promise<readonly number[]> {
  if (closed) return [];
  const asked = environment.ports().catch(() => []);
  const rows = await Promise.race([asked, answerTimeout()]);
  if (rows === 'no answer') return [];
  const own = rows.filter(({ processId }) => processId === process.processId);
  return [...new Set(own.map(({ port }) => port))];
}

/** Resolves when something listens on a port of the machine, or of a sandbox of ours. False if that cannot be known. */
export async function portOpens(
  environment: Environment,
  port: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await using watch = await environment.watchPorts({ scope: 'machine' });
    signal.addEventListener('abort', () => void watch.close(), { once: true });
    if (signal.aborted) await watch.close();
    for await (const event of watch)
      if (event.type === 'opened' && event.port === port && isReachable(event)) return true;
    return await new Promise<never>(() => undefined);
  } catch (error) {
    if (isExecError(error, 'unsupported')) return false;
    throw error;
  }
}

/** The sandboxes of other sessions have ports of their own. */
function isReachable({ sandboxed, sessionId }: ListeningPort): boolean {
  return !sandboxed || sessionId === undefined;
}
