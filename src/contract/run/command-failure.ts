import { ExecError, isExecError } from '../../protocol/errors.js';
import type { OutputEncoding, RunResult } from './run-options.js';

/** A command that was required to succeed and did not. Names the program, never its arguments. */
export class CommandFailure<
  Encoding extends OutputEncoding = OutputEncoding,
> extends ExecError<'commandFailed'> {
  /** Everything known about the run. Not enumerable where errors are printed, because output may be long or secret. */
  declare readonly result: RunResult<Encoding>;

  constructor(program: string, result: RunResult<Encoding>) {
    const { exitCode, signal, timedOut } = result;
    super('commandFailed', `${nameOf(program)} ${ending(result)}`, { data: { exitCode, signal, timedOut } });
    Object.defineProperty(this, 'result', { value: result, enumerable: false });
  }
}

/** True for a `CommandFailure`. Works across copies of the package. */
export function isCommandFailure(error: unknown): error is CommandFailure {
  return isExecError(error, 'commandFailed') && 'result' in error;
}

function nameOf(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1).slice(0, 64) || 'The program';
}

function ending({ exitCode, signal, timedOut, changesFull }: RunResult<OutputEncoding>): string {
  if (changesFull) return 'was killed because its held changes reached their size limit.';
  if (timedOut) return 'did not end in time and was killed.';
  return signal === null ? `exited with code ${exitCode}.` : `was killed by ${signal}.`;
}

/** Whether a run exited normally with code 0. */
export function succeeded({ exitCode, signal, timedOut }: RunResult<OutputEncoding>): boolean {
  return exitCode === 0 && signal === null && !timedOut;
}
