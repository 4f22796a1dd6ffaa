import { constants } from 'node:os';
import { type ProcessLog, seqBefore, type SignalName } from '../../contract/index.js';
import type { LocalProcess } from '../../host/index.js';
import {
  decodeBase64,
  encodeBase64,
  ExecError,
  type ExecMethods,
  type ExecParsedParams,
  type ExecResult,
  KEPT_SESSION,
} from '../../protocol/index.js';
import {
  type Answer,
  DeferredAnswer,
  type BytesResult,
  type Handlers,
  LargeAnswer,
} from '../../rpc/index.js';
import type { StoredLog } from '../../spool/index.js';
import { exitExtras } from '../exit-extras.js';
import type { Session } from '../session.js';
import { history, storedHistory } from './history-handler.js';
import { attach, keyboard, wait } from './kept-handlers.js';
import { linesByNumber, searchLines } from './lines-handlers.js';
import { outputAnswer } from './output-answer.js';
import type { ProcessContext } from './process-context.js';
import { listProcesses } from './process-rows.js';
import { shareHandlers } from './share-handlers.js';
import { start } from './start-handler.js';
import { storedOutput } from './stored-output.js';

type ReadAnswer = ExecResult<'process/read'>;
type ProcessMethods = Pick<ExecMethods, Extract<keyof ExecMethods, `process/${string}`>>;

/** The process methods of one connection. Each looks up its process and lets the host do the work. */
export function processHandlers(context: ProcessContext): Handlers<ProcessMethods> {
  const { session, sessions, keep } = context;
  const ownerOf = (sessionId: string | null | undefined): Session | undefined =>
    sessionId == null || sessionId === KEPT_SESSION ? session() : sessions.get(sessionId);
  /** Requests that follow a pending start wait for it, and fail with its error if it fails. */
  const afterStart =
    <Params extends { processId: string; sessionId?: string | null | undefined }, Result>(
      handler: (params: Params, bytes?: Uint8Array) => Answer<Result>,
    ) =>
    (params: Params, bytes?: Uint8Array): Answer<Result> => {
      const starting = ownerOf(params.sessionId)?.pendingStart(params.processId, session());
      // Deferred rather than run in the lane: there, only the first request would still see the start pending.
      return starting
        ? new DeferredAnswer(starting.then(() => flatten(handler(params, bytes))))
        : handler(params, bytes);
    };
  const find = (processId: string): LocalProcess => {
    const process = session().find(processId);
    if (!process) throw unknownProcess(processId);
    return process;
  };
  /** A process to control: in the caller's session, or in the one that is named. */
  const reach = (processId: string, sessionId: string | null | undefined): LocalProcess | undefined => {
    if (sessionId == null) session().kept.requireControl(processId);
    if (sessionId === KEPT_SESSION) return keep.find(processId)?.process;
    return ownerOf(sessionId)?.find(processId, session());
  };
  return {
    'process/start': (params) => start(context, params),
    'process/read': afterStart((params) => {
      const { processId, afterSeq, waitMs } = params;
      if (context.spool && !session().find(processId))
        return storedLog(context, processId).then((log) => readStored(log, params));
      const process = find(processId);
      const { log } = process;
      // An answer produced only when it is due needs no memory before.
      return outputAnswer(() => readResult(log, params), {
        bytes: () => Math.min(params.maxBytes ?? Number.POSITIVE_INFINITY, log.bytesAfter(afterSeq ?? 0)),
        due: waitMs ? log.news(afterSeq ?? 0, waitMs) : undefined,
      });
    }),
    'process/history': afterStart((params) => {
      const { processId } = params;
      if (context.spool && !session().find(processId))
        return storedLog(context, processId).then((log) => storedHistory(log, params));
      return history(find(processId), params);
    }),
    'process/write': afterStart((params, bytes) =>
      write(session(), params, bytes ?? decodeBase64(params.chunk, 'invalidParams')),
    ),
    'process/signal': afterStart(async ({ processId, sessionId, signal }) => {
      const name = signalName(signal);
      await reach(processId, sessionId)?.signal(name);
      return {};
    }),
    'process/terminate': afterStart(async ({ processId, sessionId, graceMs }) => {
      const process = reach(processId, sessionId);
      return { running: (await process?.terminate({ graceMs: graceMs ?? 0 })) ?? false };
    }),
    'process/resize': afterStart(async ({ processId, size }) => {
      const process = find(processId);
      session().kept.requireKeyboard(processId);
      await process.resize(size);
      return {};
    }),
    'process/closeStdin': afterStart(async ({ processId, after }) => {
      const process = find(processId);
      session().kept.requireKeyboard(processId);
      if (process.input.isOpen) requirePrevious(session(), { processId, after });
      await process.closeStdin();
      return {};
    }),
    'process/inspect': afterStart(async ({ processId }) => ({ state: await find(processId).inspect() })),
    'process/list': (params) => listProcesses(context, params),
    'process/attach': afterStart((params) => attach(context, params)),
    'process/detach': afterStart(({ processId }) => {
      session().kept.detach(processId);
      return {};
    }),
    'process/keyboard': afterStart((params) => keyboard(context, params)),
    ...shareHandlers(context),
    'process/wait': afterStart(({ processId }) => wait(context, processId)),
    'process/search': afterStart((params) => searchLines(context, params)),
    'process/lines': afterStart((params) => linesByNumber(context, params)),
  };
}

async function flatten<Value>(answer: Answer<Value>): Promise<Value | BytesResult | LargeAnswer<Value>> {
  const known = await answer;
  return known instanceof DeferredAnswer ? await known.answer : known;
}

function write(
  session: Session,
  params: ExecParsedParams<'process/write'>,
  bytes: Uint8Array,
): Answer<ExecResult<'process/write'>> {
  const { processId, writeId } = params;
  const process = session.find(processId);
  if (!process) return { status: 'unknownProcess' };
  if (!session.writes.isNew(processId, writeId)) return answerRetry(process, params);
  session.kept.requireKeyboard(processId);
  if (process.input.isOpen) {
    requirePrevious(session, params);
    session.input.requireRoom(process, bytes.length);
  }
  const status = process.input.enqueue(bytes, session.writes.nameOf(writeId));
  if (status === 'accepted') session.writes.remember(processId, writeId);
  if (process.input.takesMore) return { status };
  // The bytes are queued. A program that does not read delays this answer and nothing else.
  return new DeferredAnswer(
    process.input.writable().then(() => ({ status })),
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
  if (after == null || process.input.takesMore) return { status };
  return new DeferredAnswer(process.input.writable().then(() => ({ status })));
}

/**
 * One of several writes in flight may be refused. Those behind it must be refused too, or the input would have a gap.
 */
function requirePrevious(
  session: Session,
  { processId, after }: { processId: string; after?: string | null | undefined },
): void {
  if (after != null && session.writes.isNew(processId, after))
    throw new ExecError('stdinFull', 'The write before this one was not taken.');
}

/** A process that is no longer known may have left its output on disk. */
async function storedLog(context: ProcessContext, processId: string): Promise<StoredLog> {
  const log = await storedOutput(context, processId);
  if (!log) throw unknownProcess(processId);
  return log;
}

function readStored(log: StoredLog, params: ExecParsedParams<'process/read'>): LargeAnswer<ReadAnswer> {
  const read = (): ReadAnswer => {
    try {
      return readResult(log, params);
    } finally {
      log.close();
    }
  };
  return outputAnswer(read, { bytes: () => params.maxBytes ?? Number.POSITIVE_INFINITY });
}

function unknownProcess(processId: string): ExecError {
  return new ExecError('processNotFound', 'unknown process id', { data: { processId } });
}

function readResult(
  log: ProcessLog | StoredLog,
  { afterSeq, maxBytes, sinceMs }: ExecParsedParams<'process/read'>,
): ReadAnswer {
  const since = sinceMs == null ? 0 : seqBefore(log, sinceMs);
  const { chunks, ...state } = log.read(Math.max(afterSeq ?? 0, since), maxBytes ?? undefined);
  return {
    chunks: chunks.map(({ seq, stream, bytes, lostBytes }) => {
      const chunk = { seq, stream, chunk: encodeBase64(bytes) };
      return lostBytes > 0 ? { ...chunk, lostBytes } : chunk;
    }),
    ...state,
    failure: typeof log.failure === 'string' ? log.failure : null,
    ...(log.exit ? { signal: log.exit.signal, timedOut: log.exit.timedOut } : {}),
    ...(log.exit && exitExtras(log.exit)),
  };
}

function signalName(signal: string): SignalName {
  if (signal === 'interrupt') return 'SIGINT';
  if (Object.hasOwn(constants.signals, signal)) return signal as SignalName;
  throw new ExecError('invalidParams', 'params.signal: not a signal of this machine');
}
