import { adoptOrphans, ensureWatchdog, onWatchdogTrouble } from '../../host/index.js';
import type { ServerLog } from '../../server/index.js';

/**
 * For commands that run other people's programs in a process of their own. We adopt what those programs leave behind,
 * and start the watchdog, which ends everything if we are killed, before the first program.
 */
export function guardTrees(log?: Pick<ServerLog, 'warn'>): void {
  adoptOrphans();
  onWatchdogTrouble((trouble) => {
    const now = trouble === 'replaced' ? 'another one runs' : 'the next process brings another one';
    log?.warn({ trouble }, `the watchdog died; ${now}`);
  });
  // Deferred, so that it does not delay our start. A program that starts earlier waits for it.
  setImmediate(ensureWatchdog);
}
