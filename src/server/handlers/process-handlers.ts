import { constants } from 'node:os';
import type { ProcessSummary, SignalName } from '../../contract/index.js';
import { childEnvironment, type LocalProcess, type LocalProcessSpec, machineInfo } from '../../host/index.js';
import {
  decodeBase64,
  encodeBase64,
  ExecError,
  type ExecMethods,
  type ExecParsedParams,
  type ExecResult,
  isFileUri,
  parseFileUri,
  pathText,
} from '../../protocol/index.js';
import {
  type Answer,
  DeferredAnswer,
  type BytesResult,
  type Handlers,
  LargeAnswer,
} from '../../rpc/index.js';
import { refuseManagedNetwork } from '../managed-network.js';
import type { SessionRegistry } from '../session-registry.js';
import type { Session } from '../session.js';

/** Terminal size for clients that request none. The same as Codex's. */
const DEFAULT_SIZE = { rows: 24, cols: 80 };

type ReadAnswer = ExecResult<'process/read'>;
type ProcessMethods = Pick<ExecMethods, Extract<keyof ExecMethods, `process/${string}`>>;

/** The process methods of one connection. Each looks up its process and lets the host do the work. */
export function processHandlers(
  session: () => Session,
  sessions: Pick<SessionRegistry, 'all' | 'get'>,
): Handlers<ProcessMethods> {
  const ownerOf = (sessionId: string | null | undefined): Session | undefined =>
    sessionId == null ? session() : sessions.get(sessionId);
  /** Requests that follow a pending start wait for it, and fail with its error if it fails. */
  const afterStart =
    <Params extends { processId: string; sessionId?: string | null | undefined }, Result>(
      handler: (params: Params, bytes?: Uint8Array) => Answer<Result>,
    ) =>
    (params: Params, bytes?: Uint8Array): Answer<Result> => {
      const starting = ownerOf(params.sessionId)?.pendingStart(params.processId);
      // Deferred rather than run in the lane: there, only the first request would still see the start pending.
      return starting
        ? new DeferredAnswer(starting.then(() => flatten(handler(params, bytes))))
        : handler(params, bytes);
    };
  const find = (processId: string): LocalProcess => {
    const process = session().processes.get(processId);
    if (!process) throw new ExecError('processNotFound', 'unknown process id', { data: { processId } });
    return process;
  };
  return {
    'process/start': (params) => start(session(), params),
    'process/read': afterStart(({ processId, afterSeq, maxBytes, waitMs }) => {
      const process = find(processId);
      const read = (): ReadAnswer => readResult(process, afterSeq ?? 0, maxBytes ?? undefined);
      // An answer produced only when it is due needs no memory before.
      return new LargeAnswer(read, waitMs ? process.log.news(afterSeq ?? 0, waitMs) : undefined);
    }),
    'process/write': afterStart((params, bytes) =>
      write(session(), params, bytes ?? decodeBase64(params.chunk, 'invalidParams')),
    ),
    'process/signal': afterStart(async ({ processId, signal }) => {
      const name = signalName(signal);
      await session().processes.get(processId)?.signal(name);
      return {};
    }),
    'process/terminate': afterStart(async ({ processId, sessionId, graceMs }) => {
      const process = ownerOf(sessionId)?.processes.get(processId);
      return { running: (await process?.terminate({ graceMs: graceMs ?? 0 })) ?? false };
    }),
    'process/resize': afterStart(async ({ processId, size }) => {
      await find(processId).resize(size);
      return {};
    }),
    'process/closeStdin': afterStart(async ({ processId, after }) => {
      const process = find(processId);
      if (process.stdinOpen) requirePrevious(session(), { processId, after });
      await process.closeStdin();
      return {};
    }),
    'process/inspect': afterStart(async ({ processId }) => ({ state: await find(processId).inspect() })),
    'process/list': (params) => ({
      processes:
        params?.scope === 'server' ? allProcesses(session(), sessions.all()) : processesOf(session()),
    }),
  };
}

function processesOf(session: Session): ProcessSummary[] {
  return session.processes.all().map((process) => process.summary());
}

/** The processes of all sessions. Other clients' arguments may contain secrets, so only the program is shown. */
function allProcesses(own: Session, all: readonly Session[]): (ProcessSummary & { sessionId: string })[] {
  return all.flatMap((session) =>
    processesOf(session).map((row) => ({
      ...row,
      sessionId: session.id,
      argv: session === own ? row.argv : row.argv.slice(0, 1),
    })),
  );
}

/** A sandboxed start takes a while but leaves its lane immediately; requests behind it wait for its outcome. */
function start(
  session: Session,
  params: ExecParsedParams<'process/start'>,
): Answer<ExecResult<'process/start'>> {
  const { processId, sandbox, shellSnapshot } = params;
  const earlier = session.pendingStart(processId);
  if (!sandbox && !earlier && !shellSnapshot) return startResult(session.start(childOf(params)));
  return new DeferredAnswer(
    session.trackStart(processId, async () => {
      await earlier?.catch(() => undefined);
      const child = await withoutProfile(session, childOf(params), params);
      return startResult(sandbox ? await session.startConfined(child, sandbox) : session.start(child));
    }),
  );
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

async function flatten<Value>(answer: Answer<Value>): Promise<Value | BytesResult | LargeAnswer<Value>> {
  const known = await answer;
  return known instanceof DeferredAnswer ? await known.answer : known;
}

function startResult({ processId, sandboxType }: LocalProcess): ExecResult<'process/start'> {
  return { processId, sandboxType };
}

function childOf(params: ExecParsedParams<'process/start'>): LocalProcessSpec {
  const { processId, argv, arg0, tty, pipeStdin, size, timeoutMs } = params;
  refuseManagedNetwork(params);
  const env = childEnvironment({ own: process.env, policy: params.envPolicy ?? null, overlay: params.env });
  if (tty) env.SHELL ??= machineInfo().shell.path;
  return {
    processId,
    argv,
    ...(arg0 == null ? {} : { arg0 }),
    cwd: params.cwd === undefined ? process.cwd() : pathOf(params.cwd),
    env,
    stdin: pipeStdin ? 'pipe' : 'null',
    terminal: tty ? (size ?? DEFAULT_SIZE) : null,
    timeoutMs: timeoutMs ?? undefined,
  };
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

function write(
  session: Session,
  params: ExecParsedParams<'process/write'>,
  bytes: Uint8Array,
): Answer<ExecResult<'process/write'>> {
  const { processId, writeId } = params;
  const process = session.processes.get(processId);
  if (!process) return { status: 'unknownProcess' };
  if (!session.isNewWrite(processId, writeId)) return answerRetry(process, params);
  if (process.stdinOpen) {
    requirePrevious(session, params);
    session.requireInputRoom(process, bytes.length);
  }
  const status = process.enqueue(bytes);
  if (status === 'accepted') session.rememberWrite(processId, writeId);
  if (process.takesInput) return { status };
  // The bytes are queued. A program that does not read delays this answer and nothing else.
  return new DeferredAnswer(
    process.writable().then(() => ({ status })),
    { paramsDone: true },
  );
}

/** Answers a retry when the original write would have been answered: clients wait for that before sending more. */
function answerRetry(
  process: LocalProcess,
  { after }: ExecParsedParams<'process/write'>,
): Answer<ExecResult<'process/write'>> {
  const status = 'accepted';
  // Clients that send one write at a time are answered immediately, as Codex does.
  if (after == null || process.takesInput) return { status };
  return new DeferredAnswer(process.writable().then(() => ({ status })));
}

/**
 * One of several writes in flight may be refused. Those behind it must be refused too, or the input would have a gap.
 */
function requirePrevious(
  session: Session,
  { processId, after }: { processId: string; after?: string | null | undefined },
): void {
  if (after != null && session.isNewWrite(processId, after))
    throw new ExecError('stdinFull', 'The write before this one was not taken.');
}

function readResult(process: LocalProcess, afterSeq: number, maxBytes?: number): ExecResult<'process/read'> {
  const { chunks, ...state } = process.log.read(afterSeq, maxBytes);
  return {
    chunks: chunks.map(({ seq, stream, bytes, lostBytes }) => {
      const chunk = { seq, stream, chunk: encodeBase64(bytes) };
      return lostBytes > 0 ? { ...chunk, lostBytes } : chunk;
    }),
    ...state,
    failure: null,
    ...(process.log.exit ? { signal: process.log.exit.signal, timedOut: process.log.exit.timedOut } : {}),
  };
}

function signalName(signal: string): SignalName {
  if (signal === 'interrupt') return 'SIGINT';
  if (Object.hasOwn(constants.signals, signal)) return signal as SignalName;
  throw new ExecError('invalidParams', 'params.signal: not a signal of this machine');
}
