import type { ProcessLog } from '../../contract/index.js';
import type { LocalProcess } from '../../host/index.js';
import {
  encodeBase64,
  ExecError,
  type ExecParsedParams,
  type ExecResult,
  KEPT_SESSION,
} from '../../protocol/index.js';
import { type Answer, DeferredAnswer } from '../../rpc/index.js';
import { exitExtras } from '../exit-extras.js';
import type { KeptProcess } from '../kept-process.js';
import { beforeEnd, positionOfTail } from './attach-tail.js';
import type { ProcessContext } from './process-context.js';

/** The answer for a process that has no screen. */
const SHOWN_BYTES = 1024 * 1024;

/** Makes a kept process usable in the caller's session. */
export function attach(
  context: ProcessContext,
  params: ExecParsedParams<'process/attach'>,
): Answer<ExecResult<'process/attach'>> {
  const kept = usable(context, params);
  if (params.screen) return attachWithScreen(context, kept, params);
  return params.tail ? attachWithTail(context, kept, params.tail, params) : use(context, kept, params);
}

/** A kept process, or one that another session of the same client owns. To all other clients it does not exist. */
function usable(
  { session, sessions, keep, principal, share }: ProcessContext,
  { processId, sessionId }: ExecParsedParams<'process/attach'>,
): KeptProcess {
  if (sessionId == null || sessionId === KEPT_SESSION || share) return keep.get(processId);
  const owner = sessions.get(sessionId);
  const isOwn = owner !== undefined && principal !== undefined && owner.principal === principal;
  const shown = isOwn && owner !== session() ? owner.show(processId) : undefined;
  if (shown) return shown;
  throw new ExecError('processNotFound', 'unknown process id', { data: { processId } });
}

/** Requests for the process wait while the end of its output is looked for. */
async function attachWithTail(
  context: ProcessContext,
  kept: KeptProcess,
  tail: NonNullable<ExecParsedParams<'process/attach'>['tail']>,
  params: ExecParsedParams<'process/attach'>,
): Promise<ExecResult<'process/attach'>> {
  const afterSeq = await positionOfTail(kept.process.log, tail, context.gone);
  return use(context, kept, { ...params, afterSeq, fromEnd: false });
}

/**
 * Other screens may be rendered first, so this takes a while. Requests for the process wait for it, in the order they were sent.
 */
async function attachWithScreen(
  context: ProcessContext,
  kept: KeptProcess,
  params: ExecParsedParams<'process/attach'>,
): Promise<ExecResult<'process/attach'>> {
  const captured = (await kept.screen?.capture()) ?? null;
  if (!captured)
    return { ...(await attachWithTail(context, kept, { bytes: SHOWN_BYTES }, params)), screen: null };
  const { bytes, size, isAlternate: alternate, afterSeq } = captured;
  const answer = use(context, kept, { ...params, afterSeq, fromEnd: false });
  return { ...answer, screen: { chunk: encodeBase64(bytes), size, alternate } };
}

function use(
  { session, share }: ProcessContext,
  kept: KeptProcess,
  params: ExecParsedParams<'process/attach'>,
): ExecResult<'process/attach'> {
  const { processId, mayPause, keyboard: wanted, screen, fromEnd } = params;
  const { tty, sandboxType, log } = kept.process;
  const last = log.nextSeq - 1;
  const afterSeq = beforeEnd(log, fromEnd ? last : Math.min(params.afterSeq ?? 0, last));
  const keyboardUse = share ? 'view' : (wanted ?? undefined);
  const hasScreen = screen === true;
  session().attachKept(kept, {
    afterSeq,
    mayPause: kept.lease !== 'session' && (mayPause ?? true),
    keyboard: keyboardUse,
    hasScreen,
    share,
  });
  const usage = session().kept.get(processId);
  return {
    processId,
    tty,
    lease: kept.lease,
    afterSeq,
    nextSeq: log.nextSeq,
    sandboxType,
    ...(keyboardUse && usage ? { holds: kept.keyboard.isHeldBy(usage.client) } : {}),
  };
}

/** Who types to a process. */
export function keyboard(
  { session }: ProcessContext,
  { processId, action, to }: ExecParsedParams<'process/keyboard'>,
): ExecResult<'process/keyboard'> {
  const usage = session().kept.get(processId);
  if (!usage) throw new ExecError('processNotFound', 'unknown process id', { data: { processId } });
  const { client, kept } = usage;
  // From here on the client takes part in passing the keyboard.
  if (client.access === 'implicit') client.access = 'explicit';
  if (action === 'take') kept.keyboard.take(client);
  else if (action === 'ask') kept.keyboard.ask(client);
  else if (action === 'give') kept.keyboard.give(client, to == null ? undefined : kept.clientWith(to));
  return { holds: kept.keyboard.isHeldBy(client), free: kept.keyboard.isFree };
}

/** Answers when the process has closed. */
export function wait(
  { session, keep, gone }: ProcessContext,
  processId: string,
): Answer<ExecResult<'process/wait'>> {
  const process = session().find(processId) ?? keep.get(processId).process;
  if (process.log.closed) return endOf(process);
  return new DeferredAnswer(untilClosed(process.log, gone).then(() => endOf(process)));
}

/** The wait ends with the connection: a client may come and go often while a program runs for months. */
function untilClosed(log: ProcessLog, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = log.subscribe(() => {
      if (!log.closed) return;
      finish();
      resolve();
    });
    const leave = (): void => {
      finish();
      reject(new ExecError('connectionClosed', 'The client is gone.'));
    };
    const finish = (): void => {
      stop();
      gone.removeEventListener('abort', leave);
    };
    // It may have gone while this request waited for a start.
    if (gone.aborted) leave();
    else gone.addEventListener('abort', leave);
  });
}

function endOf({ log }: LocalProcess): ExecResult<'process/wait'> {
  if (!log.exit) throw new ExecError('internalError', 'The process closed without an exit.');
  const { exitCode, signal, timedOut, sandboxDenied } = log.exit;
  return { exitCode, signal, timedOut, sandboxDenied, ...exitExtras(log.exit) };
}
