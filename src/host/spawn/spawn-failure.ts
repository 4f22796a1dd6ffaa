import { accessSync, constants, statSync } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { errnoOf } from '../kernel/index.js';
import type { ChildSpec } from './child.js';

/** Why a program could not be started; travels as `data.reason`. */
export type SpawnFailureReason =
  | 'programNotFound'
  | 'notExecutable'
  | 'cwdNotFound'
  | 'cwdNotADirectory'
  | 'permissionDenied'
  | 'invalidArgument'
  | 'resourceLimit'
  | 'systemError';

const RESOURCE_ERRORS: readonly string[] = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOSPC'];

/** The error for one reason. The sentence may name program and cwd, never arguments or environment. */
export function spawnFailure(reason: SpawnFailureReason, sentence: string, errno?: string): ExecError {
  return new ExecError('spawnFailed', sentence, { data: errno ? { reason, errno } : { reason } });
}

/** Refuses what no system call could carry, before anything is opened. */
export function assertSpawnable(spec: ChildSpec): void {
  const { argv, arg0 = '', cwd, env } = spec;
  if (argv.length === 0) throw spawnFailure('invalidArgument', 'The argument list is empty.');
  if (argv[0] === '') throw spawnFailure('programNotFound', 'The program name is empty.', 'ENOENT');
  if (!cwd.startsWith('/')) throw spawnFailure('invalidArgument', 'The working directory is not absolute.');
  if (cwd.includes('\0')) throw spawnFailure('invalidArgument', 'The working directory contains a NUL byte.');
  if (arg0.includes('\0') || argv.some((word) => word.includes('\0')))
    throw spawnFailure('invalidArgument', 'An argument contains a NUL byte.');
  for (const [name, value] of Object.entries(env)) {
    if (name.includes('\0') || value.includes('\0'))
      throw spawnFailure('invalidArgument', 'An environment variable contains a NUL byte.');
    if (name === '' || name.includes('='))
      throw spawnFailure('invalidArgument', 'The name of an environment variable is empty or contains "=".');
  }
}

/** Turns the errno of a failed spawn into a sentence. The kernel does not say which path it means, so we look. */
export function explainSpawnError(spec: ChildSpec, path: string, errno: string): ExecError {
  const program = spec.argv[0] ?? '';
  if (RESOURCE_ERRORS.includes(errno)) return resourceFailure(errno);
  if (errno === 'E2BIG')
    return spawnFailure('invalidArgument', 'Arguments and environment are too large for this system.', errno);
  const cwdFailure = explainCwd(spec.cwd);
  if (cwdFailure) return cwdFailure;
  if (errno === 'ENOENT') return explainMissing(program, path);
  if (errno === 'ENOTDIR') return spawnFailure('programNotFound', `There is no program ${program}.`, errno);
  if (errno === 'EACCES') return explainDenied(program, path);
  if (errno === 'EPERM')
    return spawnFailure('permissionDenied', `The system does not permit to run ${program}.`, errno);
  if (errno === 'ENOEXEC' || errno === 'ELIBBAD')
    return spawnFailure('notExecutable', `${program} is not a program this machine can run.`, errno);
  return spawnFailure('systemError', `${program} could not be started (${errno}).`, errno);
}

/** No descriptors, processes or memory left. */
export function resourceFailure(errno: string): ExecError {
  return spawnFailure('resourceLimit', `The machine has no room for another process (${errno}).`, errno);
}

function explainCwd(cwd: string): ExecError | null {
  try {
    if (!statSync(cwd).isDirectory())
      return spawnFailure('cwdNotADirectory', `The working directory ${cwd} is not a directory.`, 'ENOTDIR');
    accessSync(cwd, constants.X_OK);
    return null;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EACCES')
      return spawnFailure('permissionDenied', `The working directory ${cwd} may not be entered.`, errno);
    if (errno === 'ENOTDIR')
      return spawnFailure('cwdNotADirectory', `The working directory ${cwd} is below a file.`, errno);
    return spawnFailure('cwdNotFound', `The working directory ${cwd} does not exist.`, errno);
  }
}

function explainMissing(program: string, path: string): ExecError {
  if (statSync(path, { throwIfNoEntry: false }))
    return spawnFailure('notExecutable', `${program} needs an interpreter that does not exist.`, 'ENOENT');
  return spawnFailure('programNotFound', `There is no program ${program}.`, 'ENOENT');
}

function explainDenied(program: string, path: string): ExecError {
  try {
    const found = statSync(path);
    if (found.isDirectory())
      return spawnFailure('notExecutable', `${program} is a directory, not a program.`, 'EACCES');
    if ((found.mode & 0o111) === 0)
      return spawnFailure('notExecutable', `${program} is not marked as executable.`, 'EACCES');
  } catch {
    // Not even visible: the plain sentence below says all we know.
  }
  return spawnFailure('permissionDenied', `Permission to run ${program} was denied.`, 'EACCES');
}
