import { ExecError } from '../protocol/errors.js';
import { MAX_TIMER_MS } from '../protocol/max-timer.js';

/** How long somebody is willing to wait, and how they say that they no longer are. */
export interface Deadline {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Settles as the promise does, unless patience ends first: then it rejects with what `late` makes. */
export function withDeadline<Value>(
  promise: Promise<Value>,
  options: Deadline & { what: string; late: () => ExecError },
): Promise<Value> {
  const { timeoutMs, signal, what, late } = options;
  if (signal?.aborted) return Promise.reject(gaveUp(what));
  return new Promise<Value>((resolve, reject) => {
    const abort = (): void => reject(gaveUp(what));
    const timer =
      timeoutMs === undefined || timeoutMs > MAX_TIMER_MS
        ? undefined
        : setTimeout(() => reject(late()), Math.max(0, timeoutMs));
    signal?.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    });
  });
}

function gaveUp(what: string): ExecError {
  return new ExecError('aborted', `${what} was given up.`);
}

/** The options without the undefined ones, which an exact optional property does not take. */
export function definedOnly(patience: Deadline): { timeoutMs?: number; signal?: AbortSignal } {
  const { timeoutMs, signal } = patience;
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(signal ? { signal } : {}) };
}
