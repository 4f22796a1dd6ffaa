import type { ProcessLog } from '../contract/index.js';

/** Calls `listener` once when the log has closed, at once if it has already. */
export function onceClosed(log: ProcessLog, listener: () => void): void {
  if (log.closed) return listener();
  const stop = log.subscribe(() => {
    if (!log.closed) return;
    stop();
    listener();
  });
}
