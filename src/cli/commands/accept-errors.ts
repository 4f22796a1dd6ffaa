import type { ServerLog } from '../../server/index.js';
import { describeFailure } from './safety-net.js';

/** At most one message per interval, however many connections fail. */
const LOG_INTERVAL_MS = 10_000;

/** Returns a handler that logs, at a limited rate, that connections cannot be accepted. */
export function logAcceptErrors(log: Pick<ServerLog, 'warn'>): (error: Error) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = now;
    const { error: what } = describeFailure(error);
    log.warn({ error: what }, 'cannot accept connections right now');
  };
}
