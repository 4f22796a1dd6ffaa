import type { OutputStream } from './process-event.js';

/**
 * Where output goes before it is delivered: a file, so that its length says how much was read even if we die in between. What is
 * in the file is then appended to the log, whose archive this is.
 */
export interface OutputPlace {
  /** Whether anything was ever put there: before that, asking for the place is expensive. */
  readonly begun: boolean;
  /** Where the next output of this stream belongs, behind everything before it. Null if nothing more can be put there. */
  next(stream: OutputStream): { readonly fd: number; readonly position: number } | null;
  /** Nothing could be put there, for this reason. From here on `next` returns null. */
  failed(reason: string): void;
}
