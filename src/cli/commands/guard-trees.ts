import { adoptOrphans, ensureWatchdog, onWatchdogTrouble } from '../../host/index.js';
import type { ServerLog } from '../../server/index.js';

/**
 * For commands that run programs of others here, in a process that does nothing else: what these leave behind becomes ours,
 * and the process that ends it all should we be killed is there before the first of them.
 */
export function guardTrees(log?: Pick<ServerLog, 'warn'>): void {
  adoptOrphans();
  onWatchdogTrouble((trouble) => {
    const now = trouble === 'replaced' ? 'another one runs' : 'the next process brings another one';
    log?.warn({ trouble }, `the watchdog died; ${now}`);
  });
  // Whoever waits for us to be ready need not wait for it, too. The first program does, should it be quicker.
  setImmediate(ensureWatchdog);
}
