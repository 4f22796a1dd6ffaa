import { ExecError } from '../../../protocol/errors.js';

/** Throws if the caller has given up. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new ExecError('aborted', 'The caller gave up.');
}
