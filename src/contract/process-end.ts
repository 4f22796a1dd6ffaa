import type { NetworkDenial } from '../protocol/index.js';
import type { ExitedEvent, ProcessEnd, ProcessUsage } from './process-event.js';
import type { ProcessLog } from './process-log.js';

/** How a program ended, without its position in the log. */
export type ExitFacts = Omit<ExitedEvent, 'type' | 'seq'>;

/** Fills in what other servers do not report. A signal they do not name is not inferred from the exit code. */
export function exitFacts(reported: {
  exitCode: number;
  signal?: string | null | undefined;
  timedOut?: boolean | undefined;
  changesFull?: boolean | undefined;
  sandboxDenied?: boolean | undefined;
  networkDenied?: readonly NetworkDenial[] | undefined;
  usage?: ProcessUsage | undefined;
}): ExitFacts {
  const { exitCode, signal, timedOut = false, sandboxDenied = false } = reported;
  const { changesFull = false, networkDenied = [], usage } = reported;
  return {
    exitCode,
    signal: isSignalName(signal) ? signal : null,
    timedOut,
    sandboxDenied,
    ...(changesFull ? { changesFull } : {}),
    ...(networkDenied.length > 0 ? { networkDenied } : {}),
    ...(usage ? { usage } : {}),
  };
}

function isSignalName(signal: string | null | undefined): signal is `SIG${string}` {
  return signal?.startsWith('SIG') === true;
}

/** How the process ended, once its log has ended. An observed exit stands, even if contact is lost after it. */
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

/** The end that belongs to an exit. */
export function endOf({ exitCode, signal, timedOut }: ExitFacts): ProcessEnd {
  if (timedOut) return { kind: 'timedOut', exitCode };
  return signal === null ? { kind: 'exited', exitCode } : { kind: 'signalled', exitCode, signal };
}
