import { ExecError } from '../../protocol/errors.js';

/** Why a program could not be started; sent as `data.reason`. */
export type SpawnFailureReason =
  | 'programNotFound'
  | 'notExecutable'
  | 'cwdNotFound'
  | 'cwdNotADirectory'
  | 'permissionDenied'
  | 'invalidArgument'
  | 'resourceLimit'
  | 'systemError';

/** The error for a reason. The sentence may name the program and cwd, but never arguments or environment. */
export function spawnFailure(reason: SpawnFailureReason, sentence: string, errno?: string): ExecError {
  return new ExecError('spawnFailed', sentence, { data: errno ? { reason, errno } : { reason } });
}

/** Error sentences for a program that could not be started, shared by sandboxed and plain starts. */
export const spawnFailures = {
  noProgram: (name: string, errno = 'ENOENT') =>
    spawnFailure('programNotFound', `There is no program ${name}.`, errno),
  notInPath: (name: string) =>
    spawnFailure('programNotFound', `There is no program ${name} in the PATH of the process.`, 'ENOENT'),
  emptyName: () => spawnFailure('programNotFound', 'The program name is empty.', 'ENOENT'),
  noInterpreter: (name: string) =>
    spawnFailure('notExecutable', `${name} needs an interpreter that does not exist.`, 'ENOENT'),
  notMarked: (name: string) =>
    spawnFailure('notExecutable', `${name} is not marked as executable.`, 'EACCES'),
  isDirectory: (name: string) =>
    spawnFailure('notExecutable', `${name} is a directory, not a program.`, 'EACCES'),
  notAProgram: (name: string, errno = 'ENOEXEC') =>
    spawnFailure('notExecutable', `${name} is not a program this machine can run.`, errno),
  denied: (name: string) =>
    spawnFailure('permissionDenied', `Permission to run ${name} was denied.`, 'EACCES'),
  tooLarge: () =>
    spawnFailure('invalidArgument', 'Arguments and environment are too large for this system.', 'E2BIG'),
  noCwd: (cwd: string, errno = 'ENOENT') =>
    spawnFailure('cwdNotFound', `The working directory ${cwd} does not exist.`, errno),
  cwdNotADirectory: (cwd: string) =>
    spawnFailure('cwdNotADirectory', `The working directory ${cwd} is not a directory.`, 'ENOTDIR'),
  cwdDenied: (cwd: string) =>
    spawnFailure('permissionDenied', `The working directory ${cwd} may not be entered.`, 'EACCES'),
  /** No descriptors, processes or memory left. */
  noRoom: (errno?: string) =>
    spawnFailure(
      'resourceLimit',
      `The machine has no room for another process${errno === undefined ? '' : ` (${errno})`}.`,
      errno,
    ),
} as const;
