import type { ExitedEvent, ProcessEnd, ProcessLog } from '../../contract/index.js';

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
