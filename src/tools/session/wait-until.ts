import { ExecError } from '../../protocol/index.js';
import type { ToolSession } from './tool-session.js';

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves to true once the condition holds, to false on timeout. Throws `aborted`. */
export function waitUntil(
  session: ToolSession,
  condition: () => boolean,
  { timeoutMs, signal }: WaitOptions,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const stop = session.subscribe(() => {
      if (condition()) finish(true);
    });
    const timer = setTimeout(() => finish(false), timeoutMs);
    const abort = (): void => {
      release();
      reject(new ExecError('aborted', 'The call was cancelled.'));
    };
    const release = (): void => {
      clearTimeout(timer);
      stop();
      signal?.removeEventListener('abort', abort);
    };
    const finish = (met: boolean): void => {
      release();
      resolve(met);
    };
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    else if (condition()) finish(true);
  });
}
