import { backoffDelay, pause } from './backoff.js';
import type { Connection } from './connection.js';

/** Tries to connect again until it works, the time is over, or `signal` is aborted. */
export async function reconnect(options: {
  /** Connects within a number of milliseconds; undefined when the connection ended at once. */
  readonly attempt: (limitMs: number) => Promise<Connection | undefined>;
  readonly giveUpAfterMs: number;
  readonly signal: AbortSignal;
}): Promise<{ connection?: Connection; last?: unknown }> {
  const { attempt, giveUpAfterMs, signal } = options;
  const deadline = Date.now() + giveUpAfterMs;
  let last: unknown;
  for (let count = 0; Date.now() < deadline && !signal.aborted; count += 1) {
    await pause(Math.min(backoffDelay(count), deadline - Date.now()), signal);
    if (signal.aborted) break;
    try {
      const connection = await attempt(Math.max(1, deadline - Date.now()));
      if (connection) return { connection };
    } catch (error) {
      last = error;
    }
  }
  return { last };
}
