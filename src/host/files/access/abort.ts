import { ExecError } from '../../../protocol/errors.js';

/** Throws when the caller has given up. */
export function requireWanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new ExecError('aborted', 'The caller gave up.');
}
