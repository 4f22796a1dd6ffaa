import type { ProcessEnd } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { isLostOutput } from './terminal/lost-output.js';
import { printable } from './terminal/table.js';

/** Invalid command line; the same code shells use. */
export const USAGE_ERROR = 2;
/** Any failure of a command that does not run a program. */
export const FAILURE = 1;

/** The program timed out; the same code as `timeout(1)`. */
const TIMED_OUT = 124;
/** We failed, not the program: no connection, no such environment, contact lost. Same as `env(1)` and `nohup(1)`. */
export const OUR_FAILURE = 125;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
/** Our output has no reader: the exit code of a local program killed by SIGPIPE. */
export const BROKEN_PIPE = 128 + 13;

/** The exit codes of `run` and `shell`, for `--help`. */
export const EXIT_CODE_HELP = `
Exit codes:
  the program's own, or 128 + n if signal n killed it
  ${TIMED_OUT}  --timeout expired
  ${OUR_FAILURE}  execwire failed: no such environment, no connection, contact lost
  ${NOT_EXECUTABLE}  the program cannot be executed
  ${NOT_FOUND}  the program does not exist
  ${USAGE_ERROR}    the command line is invalid (programs use this code too)`;

/** Maps the end of a process to an exit code. */
export function exitCodeOfEnd(end: ProcessEnd): number {
  if (end.kind === 'timedOut') return TIMED_OUT;
  return end.kind === 'contactLost' ? OUR_FAILURE : end.exitCode;
}

/** The exit code for a program that could not be started. */
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

/** The number behind the words of the system is for programs. */
const OS_ERROR = / \(os error \d+\)$/;

/** Prints an error to stderr. Our own messages contain no arguments or environment; servers may send any text. */
export function complain(error: unknown): void {
  if (isLostOutput(error)) return;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`execwire: ${printable(message.replace(OS_ERROR, ''))}\n`);
}
