import type { ServerLog } from '../../server/index.js';
import { describeFailure } from './safety-net.js';

/** As often as this, however many fail. */
const SAY_EVERY_MS = 10_000;

/** Says once in a while that connections cannot be accepted. */
export function acceptErrors(log: Pick<ServerLog, 'warn'>): (error: Error) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now - saidAt < SAY_EVERY_MS) return;
    saidAt = now;
    const { error: what } = describeFailure(error);
    log.warn({ error: what }, 'cannot accept connections right now');
  };
}
