import { isExecError } from '../protocol/errors.js';
import type { Destination } from './file-place.js';

/** Failures within a tree. Those that concern a single file are reported, and the rest is copied; others end the copy. */
export class Failures {
  readonly #report: (error: Error) => void;
  /** All parts that wait for a directory fail with the same error, which is reported once. */
  readonly #reported = new WeakSet<Error>();
  readonly #fatal: unknown[] = [];

  constructor(report: (error: Error) => void) {
    this.#report = report;
  }

  get isFatal(): boolean {
    return this.#fatal.length > 0;
  }

  add(error: unknown): void {
    this.#fatal.push(error);
  }

  rethrow(): void {
    if (this.isFatal) throw this.#fatal[0];
  }

  /** Runs work on one file. Reports a failure that concerns only that file, and returns undefined. */
  async spare<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!concernsOneFile(error)) throw error;
      if (!this.#reported.has(error)) this.#report(error);
      this.#reported.add(error);
      return undefined;
    }
  }

  /** The same for a directory below the top one. If that one fails, there is nothing left to copy. */
  async spareBelow<Value>({ isListed }: Destination, work: () => Promise<Value>): Promise<Value | undefined> {
    return isListed ? await this.spare(work) : await work();
  }
}

/** Any other error, such as a full disk or a lost connection, would affect all files. */
function concernsOneFile(error: unknown): error is Error {
  return isExecError(error, 'permissionDenied') || isExecError(error, 'notFound');
}
