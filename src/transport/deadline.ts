import { ExecError } from '../protocol/errors.js';
import { after } from '../protocol/max-timer.js';

/** How long to wait, and a signal that ends the wait early. */
export interface Deadline {
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Settles like the promise unless the deadline passes first: then it rejects with the error from `late`. */
export function withDeadline<Value>(
  promise: Promise<Value>,
  options: Deadline & { what: string; late: () => ExecError },
): Promise<Value> {
  const { timeoutMs, signal, what, late } = options;
  if (signal?.aborted) return Promise.reject(gaveUp(what));
  return new Promise<Value>((resolve, reject) => {
    const abort = (): void => reject(gaveUp(what));
    const stop = timeoutMs === undefined ? undefined : after(Math.max(0, timeoutMs), () => reject(late()));
    signal?.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      stop?.();
      signal?.removeEventListener('abort', abort);
    });
  });
}

function gaveUp(what: string): ExecError {
  return new ExecError('aborted', `${what} was given up.`);
}

/** The deadline without undefined members, which exact optional properties do not accept. */
export function definedOnly(deadline: Deadline): { timeoutMs?: number; signal?: AbortSignal } {
  const { timeoutMs, signal } = deadline;
  return { ...(timeoutMs === undefined ? {} : { timeoutMs }), ...(signal ? { signal } : {}) };
}
