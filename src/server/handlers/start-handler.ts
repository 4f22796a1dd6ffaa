import {
  childEnvironment,
  homeToStartIn,
  type LocalProcess,
  type LocalProcessSpec,
  machineInfo,
  type Surroundings,
} from '../../host/index.js';
import {
  ExecError,
  type ExecParsedParams,
  type ExecResult,
  isExecError,
  isFileUri,
  parseFileUri,
  pathText,
} from '../../protocol/index.js';
import { type Answer, DeferredAnswer, ownTurn } from '../../rpc/index.js';
import { outputUse } from '../../spool/index.js';
import { networkLaunch } from '../network/proxy-launch.js';
import { whoIs } from '../server-events.js';
import type { Session } from '../session.js';
import type { ProcessContext } from './process-context.js';
import { hasTimeToStart, timeStart } from './start-turns.js';

/** Terminal size for clients that request none. The same as Codex's. */
const DEFAULT_SIZE = { rows: 24, cols: 80 };
/** How the session that starts a kept process uses it. */
const FROM_START = { afterSeq: 0, mayPause: true };

/** The session that asked for the start. Its connection may be gone, or use none, when a slow start is done. */
type StartContext = Omit<ProcessContext, 'session'> & { readonly session: Session };

/** The same with the network that the start asks for. */
interface LaunchContext extends ProcessContext {
  readonly network: LocalProcessSpec['network'];
}

/**
 * A sandboxed start takes a while but leaves its lane immediately, and so does one of very many; requests behind it wait for
 * its outcome.
 */
export function start(
  context: ProcessContext,
  params: ExecParsedParams<'process/start'>,
): Answer<ExecResult<'process/start'>> {
  const session = context.session();
  const refused = announce(context, params);
  try {
    const { sandbox, network } = networkLaunch({ session, sessions: context.sessions }, params);
    const answer = startUnder({ ...context, network }, { ...params, sandbox });
    if (answer instanceof DeferredAnswer) answer.answer.catch(refused);
    return answer;
  } catch (error) {
    refused(error);
    throw error;
  }
}

/** Tells observers what is asked for. Returns a function that tells them why it was refused. */
function announce(
  { session, principal, peer, observe }: ProcessContext,
  { processId, argv, cwd, lease }: ExecParsedParams<'process/start'>,
): (error: unknown) => void {
  const facts = { session: session().id, processId, program: argv[0] ?? '' };
  const who = whoIs(principal);
  observe({ event: 'startRequested', ...facts, argv, cwd, lease: String(lease ?? 'session'), peer, who });
  return (error) => {
    const reason = isExecError(error) ? error.code : 'internalError';
    observe({ event: 'startRefused', ...facts, reason });
  };
}

function startUnder(
  context: LaunchContext,
  params: ExecParsedParams<'process/start'>,
): Answer<ExecResult<'process/start'>> {
  const session = context.session();
  const { processId, sandbox, shellSnapshot } = params;
  const earlier = session.pendingStart(processId);
  const launch = (child: LocalProcessSpec): LocalProcess =>
    timeStart(() => startNow({ ...context, session }, child, params));
  if (!sandbox && !earlier && !shellSnapshot && hasTimeToStart())
    return startResult(launch(childOf(context, params)));
  return new DeferredAnswer(
    session.starts.track({ processId, isKept: isKept(params) }, async () => {
      await earlier?.catch(() => undefined);
      if (!sandbox) await ownTurn();
      const child = await withoutProfile(session, childOf(context, params), params);
      return startResult(
        sandbox ? await startConfined({ ...context, session }, child, params) : launch(child),
      );
    }),
  );
}

/** A process with a lease belongs to the server. The session that starts it is merely the first to use it. */
function startNow(
  { session, keep }: StartContext,
  child: LocalProcessSpec,
  { lease }: ExecParsedParams<'process/start'>,
): LocalProcess {
  if (lease == null || lease === 'session') return session.start(child);
  session.requireFree(child);
  const kept = keep.start(child, lease);
  session.attachKept(kept, FROM_START);
  return kept.process;
}

async function startConfined(
  { session, keep, spool }: StartContext,
  child: LocalProcessSpec,
  { lease, sandbox }: ExecParsedParams<'process/start'>,
): Promise<LocalProcess> {
  if (!sandbox) throw new ExecError('internalError', 'There is no policy to enforce.');
  // Only what exists can be hidden from a sandbox.
  spool?.prepareIfPossible();
  if (lease == null || lease === 'session') return await session.startConfined(child, sandbox);
  session.requireFree(child);
  const kept = await keep.startConfined(child, { lease, sandbox });
  session.attachKept(kept, FROM_START);
  return kept.process;
}

/** Skips a shell profile that already ran for the same scope under the same rules. */
async function withoutProfile(
  session: Session,
  child: LocalProcessSpec,
  { shellSnapshot, envPolicy, sandbox = null, env }: ExecParsedParams<'process/start'>,
): Promise<LocalProcessSpec> {
  if (!shellSnapshot) return child;
  const { scopeId, shell } = shellSnapshot;
  const key = JSON.stringify([scopeId, envPolicy ?? null, sandbox]);
  return await session.processes.withoutProfile(child, { key, shell, sandbox, asked: env });
}

function startResult({ processId, sandboxType, changesId }: LocalProcess): ExecResult<'process/start'> {
  return { processId, sandboxType, ...(changesId === undefined ? {} : { changesId }) };
}

function childOf(
  { session, principal, spool, durable, network }: LaunchContext,
  params: ExecParsedParams<'process/start'>,
): LocalProcessSpec {
  const { processId, argv, arg0, tty, pipeStdin, size, timeoutMs } = params;
  const env = childEnvironment({ own: process.env, policy: params.envPolicy ?? null, overlay: params.env });
  if (tty) env.SHELL ??= machineInfo().shell.path;
  const child = {
    processId,
    argv,
    ...(arg0 == null ? {} : { arg0 }),
    cwd: directoryOf(params),
    env,
    stdin: pipeStdin ? 'pipe' : 'null',
    terminal: tty ? (size ?? DEFAULT_SIZE) : null,
    timeoutMs: timeoutMs ?? undefined,
    reportsUsage: params.reportUsage ?? false,
    limits: params.limits ?? undefined,
    startedBy: session().clientName,
    network,
  } as const;
  // The owner of stored output that outlives its session: the client that started the process.
  const owner = isKept(params) ? principal : undefined;
  const spoolOwner = owner ?? session().id;
  const { lease, retain, onSlowReader, sandbox, networkProxy, enforceManagedNetwork } = params;
  if (!durable) return { ...child, ...outputUse(spool, { ...child, owner: spoolOwner }, params) };
  const isOwned = owner !== undefined && lease != null && lease !== 'session';
  const { cwd } = child;
  const temporary = env.TMPDIR ?? null;
  const asked = { networkProxy, enforceManagedNetwork };
  const begin = (surroundings: Surroundings = {}): ReturnType<typeof durable.begin> =>
    durable.begin({
      ...child,
      ...(isOwned
        ? { owner: { principal: owner, lease }, starter: session().id }
        : { owner: { session: session().id } }),
      spoolOwner,
      keep: retain === 'disk',
      spills: onSlowReader === 'spool',
      confined: sandbox ? { sandbox, cwd, temporary, network: asked, surroundings } : null,
    });
  return sandbox ? { ...child, begin } : { ...child, ...begin() };
}

function isKept({ lease }: ExecParsedParams<'process/start'>): boolean {
  return lease != null && lease !== 'session';
}

function directoryOf({ cwd, startAtHome }: ExecParsedParams<'process/start'>): string {
  if (cwd !== undefined) return pathOf(cwd);
  return startAtHome ? homeToStartIn() : process.cwd();
}

/** A working directory is passed to the system as text, so its name must be UTF-8. */
function pathOf(uri: string): string {
  const refusal = 'params.cwd: not a file URI of this machine';
  try {
    const path = pathText(parseFileUri(uri));
    if (!isFileUri(path)) return path;
  } catch (cause) {
    throw new ExecError('invalidParams', refusal, { cause });
  }
  throw new ExecError('invalidParams', refusal);
}
