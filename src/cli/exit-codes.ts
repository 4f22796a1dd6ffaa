import type { ProcessEnd } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { printable } from './terminal/table.js';

/** A command line that makes no sense, as shells have it. */
export const USAGE_ERROR = 2;
/** Everything that failed, for commands that have no program to speak for them. */
export const FAILURE = 1;

/** The program ran out of its time, as `timeout(1)` says it. */
const TIMED_OUT = 124;
/** We failed, not the program: no connection, no such environment, contact lost. As `env(1)` and `nohup(1)`. */
export const OUR_FAILURE = 125;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
/** Nobody reads our output: what SIGPIPE makes of a local program. */
export const BROKEN_PIPE = 128 + 13;

/** What the exit codes of `run` and `shell` mean, for `--help`. */
export const EXIT_CODE_HELP = `
Exit codes:
  that of the program, or 128 + n when signal n ended it
  ${TIMED_OUT}  the time of --timeout was over
  ${OUR_FAILURE}  execwire failed: no such environment, no connection, contact lost
  ${NOT_EXECUTABLE}  the program cannot be executed
  ${NOT_FOUND}  there is no such program
  ${USAGE_ERROR}    the command line makes no sense (programs use this one too)`;

/** The exit code that tells a shell how a process ended. */
export function exitCodeOfEnd(end: ProcessEnd): number {
  if (end.kind === 'timedOut') return TIMED_OUT;
  return end.kind === 'contactLost' ? OUR_FAILURE : end.exitCode;
}

/** The exit code for a program that did not even start. */
export function exitCodeOfFailure(error: unknown): number {
  if (!isExecError(error, 'spawnFailed')) return OUR_FAILURE;
  switch (error.data.reason) {
    case 'programNotFound':
      return NOT_FOUND;
    case 'notExecutable':
    case 'permissionDenied':
      return NOT_EXECUTABLE;
    default:
      return OUR_FAILURE;
  }
}

/** Says on stderr what went wrong. Messages of ours hold neither arguments nor environment; others come from servers. */
export function complain(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`execwire: ${printable(message)}\n`);
}
