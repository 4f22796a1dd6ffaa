import { accessSync, constants, statSync } from 'node:fs';
import type { ExecError } from '../../protocol/errors.js';
import { errnoOf, spawnFailure, spawnFailures } from '../kernel/index.js';
import type { ChildSpec } from './child.js';

const RESOURCE_ERRORS: readonly string[] = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOSPC'];

/** Rejects what no system call could carry, before anything is opened. */
export function assertSpawnable(spec: ChildSpec): void {
  const { argv, arg0 = '', cwd, env } = spec;
  if (argv.length === 0) throw spawnFailure('invalidArgument', 'The argument list is empty.');
  if (argv[0] === '') throw spawnFailures.emptyName();
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

/** Turns the errno of a failed spawn into a sentence. The kernel does not say which path it means, so we check. */
export function explainSpawnError(spec: ChildSpec, path: string, errno: string): ExecError {
  const program = spec.argv[0] ?? '';
  if (RESOURCE_ERRORS.includes(errno)) return spawnFailures.noRoom(errno);
  if (errno === 'E2BIG') return spawnFailures.tooLarge();
  const cwdFailure = explainCwd(spec.cwd);
  if (cwdFailure) return cwdFailure;
  if (errno === 'ENOENT') return explainMissing(program, path);
  if (errno === 'ENOTDIR') return spawnFailures.noProgram(program, errno);
  if (errno === 'EACCES') return explainDenied(program, path);
  if (errno === 'EPERM')
    return spawnFailure('permissionDenied', `The system does not permit running ${program}.`, errno);
  if (errno === 'ENOEXEC' || errno === 'ELIBBAD') return spawnFailures.notAProgram(program, errno);
  return spawnFailure('systemError', `${program} could not be started (${errno}).`, errno);
}

function explainCwd(cwd: string): ExecError | null {
  try {
    if (!statSync(cwd).isDirectory()) return spawnFailures.cwdNotADirectory(cwd);
    accessSync(cwd, constants.X_OK);
    return null;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EACCES') return spawnFailures.cwdDenied(cwd);
    if (errno === 'ENOTDIR')
      return spawnFailure('cwdNotADirectory', `The working directory ${cwd} is below a file.`, errno);
    return spawnFailures.noCwd(cwd, errno);
  }
}

function explainMissing(program: string, path: string): ExecError {
  if (statSync(path, { throwIfNoEntry: false })) return spawnFailures.noInterpreter(program);
  return spawnFailures.noProgram(program);
}

function explainDenied(program: string, path: string): ExecError {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return spawnFailures.isDirectory(program);
    if ((found.mode & 0o111) === 0) return spawnFailures.notMarked(program);
  } catch {
    // We cannot even look at it: the plain sentence below is all we know.
  }
  return spawnFailures.denied(program);
}
