import type { ExitedEvent, ProcessEnd, ProcessLog } from '../contract/index.js';
import { MAX_TIMER_MS } from '../transport/deadline.js';

/** Resolves when the log has something to say to a reader at a position, or time is up. */
export async function logNews(log: ProcessLog, options: { afterSeq: number; waitMs: number }): Promise<void> {
  const { afterSeq, waitMs } = options;
  if (waitMs <= 0 || log.hasNews(afterSeq)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(done, Math.min(waitMs, MAX_TIMER_MS));
    const stop = log.subscribe(() => {
      if (log.hasNews(afterSeq)) done();
    });
  });
}

/** How the process ended, once its log has. An exit that was seen stands, even if contact is lost behind it. */
export async function logEnd(log: ProcessLog): Promise<ProcessEnd> {
  await new Promise<void>((resolve) => {
    const over = (): boolean => log.closed || log.failure !== undefined;
    if (over()) return resolve();
    const stop = log.subscribe(() => {
      if (!over()) return;
      stop();
      resolve();
    });
  });
  if (log.exit) return endOf(log.exit);
  return { kind: 'contactLost', error: log.failure ?? new Error('The process closed without an exit.') };
}

function endOf({ exitCode, signal, timedOut }: ExitedEvent): ProcessEnd {
  if (timedOut) return { kind: 'timedOut', exitCode };
  return signal === null ? { kind: 'exited', exitCode } : { kind: 'signalled', exitCode, signal };
}
