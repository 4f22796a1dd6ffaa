import { isExecError } from '../../protocol/index.js';
import { backoffDelay, pause } from './backoff.js';
import type { Connection } from './connection.js';

/** Who is not let in now will not be let in later: the token has expired or was revoked. */
const UNAUTHORIZED = 401;

/** Tries to reconnect until it succeeds, the server refuses us, the time is up, or `signal` fires. */
export async function reconnect(options: {
  /** Connects within the given time. Resolves to undefined if the connection ended immediately. */
  readonly attempt: (limitMs: number) => Promise<Connection | undefined>;
  readonly giveUpAfterMs: number;
  readonly signal: AbortSignal;
}): Promise<{ connection?: Connection; last?: unknown }> {
  const { attempt, giveUpAfterMs, signal } = options;
  const deadline = performance.now() + giveUpAfterMs;
  let last: unknown;
  for (let count = 0; performance.now() < deadline && !signal.aborted; count += 1) {
    await pause(Math.min(backoffDelay(count), deadline - performance.now()), signal);
    if (signal.aborted) break;
    try {
      const connection = await attempt(Math.max(1, Math.ceil(deadline - performance.now())));
      if (connection) return { connection };
    } catch (error) {
      last = error;
      if (isUnauthorized(error)) break;
    }
  }
  return { last };
}

export function isUnauthorized(error: unknown): boolean {
  return isExecError(error, 'notConnected') && error.data.status === UNAUTHORIZED;
}
