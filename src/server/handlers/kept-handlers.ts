import type { ProcessLog, ProcessSummary } from '../../contract/index.js';
import type { LocalProcess } from '../../host/index.js';
import { ExecError, type ExecParsedParams, type ExecResult, KEPT_SESSION } from '../../protocol/index.js';
import { type Answer, DeferredAnswer } from '../../rpc/index.js';
import type { KeptProcess } from '../kept-process.js';
import type { ProcessContext } from './process-context.js';

/** Kept processes in the list of a server. */
export function keptRows(all: readonly KeptProcess[]): (ProcessSummary & { sessionId: string })[] {
  return all.map((kept) => ({ ...kept.summary(), sessionId: KEPT_SESSION }));
}

/** Makes a kept process usable in the caller's session. */
export function attach(
  { session, keep }: ProcessContext,
  { processId, afterSeq, fromEnd, mayPause }: ExecParsedParams<'process/attach'>,
): ExecResult<'process/attach'> {
  const kept = keep.get(processId);
  const { tty, sandboxType, log } = kept.process;
  const last = log.nextSeq - 1;
  const position = fromEnd ? last : Math.min(afterSeq ?? 0, last);
  session().attachKept(kept, { afterSeq: position, mayPause: mayPause ?? true });
  return { processId, tty, lease: kept.lease, afterSeq: position, nextSeq: log.nextSeq, sandboxType };
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

/** A client that is gone waits no longer: somebody may come and go often while a program runs for months. */
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
  return { exitCode, signal, timedOut, sandboxDenied };
}
