import { isExecError } from '../protocol/errors.js';
import type { Destination } from './copy-file.js';

/** What went wrong with parts of a tree. Some failures concern one file only, and the rest is copied; others end the copy. */
export class Failures {
  readonly #report: (error: Error) => void;
  /** Whatever waits for a directory fails as the directory did, which is said once. */
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

  /** Does something to one file. If only that file is affected by a failure, reports it and returns undefined. */
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

  /** The same for a directory. Without the first one, there is nothing left to copy. */
  async spareBelow<Value>({ isListed }: Destination, work: () => Promise<Value>): Promise<Value | undefined> {
    return isListed ? await this.spare(work) : await work();
  }
}

/** A full disk or a lost connection would stop every other file, too. */
function concernsOneFile(error: unknown): error is Error {
  return isExecError(error, 'permissionDenied') || isExecError(error, 'notFound');
}
