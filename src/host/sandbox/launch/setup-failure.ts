import { statSync } from 'node:fs';
import { ExecError } from '../../../protocol/errors.js';
import { spawnFailure, spawnFailures } from '../../kernel/index.js';
import { pathChanged } from '../plan/exact-path.js';
import { explainFailure } from '../probe/probe-failure.js';

/** What was to be run, as far as an error may name it. */
export interface FailedStart {
  /** As the caller named it. */
  readonly name: string;
  /** Where it was found outside the sandbox. */
  readonly program: string;
  readonly cwd: string;
}

const ERRNO_OF: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'not found': 'ENOENT',
  'Permission denied': 'EACCES',
  'Not a directory': 'ENOTDIR',
  'Exec format error': 'ENOEXEC',
  'Argument list too long': 'E2BIG',
  'Resource temporarily unavailable': 'EAGAIN',
  'Cannot allocate memory': 'ENOMEM',
};

/** What bubblewrap or the shell prints about a program it could not execute. The name may span several lines. */
const NOT_EXECUTED = /^(bwrap: )?execvp |^\S+: \d+: exec: /m;

/** What bubblewrap prints about a mount of the plan whose source was removed meanwhile. */
const VANISHED =
  /^Can't (find source path \/proc\/self\/fd\/|get type of source |(bind )?mount .*: (Unable to (remount destination|find ".*" in mount table)|No such file))/;

const RESOURCE_ERRORS: readonly string[] = ['EAGAIN', 'ENOMEM'];

/**
 * The error for a sandbox that ended before its command ran, derived from what bubblewrap or the waiting shell printed.
 * A program or directory that vanished after we checked gives the same error as without a sandbox.
 */
export function explainSetupFailure(said: string, start: FailedStart): ExecError {
  const text = lastLine(said);
  const errno = ERRNO_OF[text.slice(text.lastIndexOf(': ') + 2)];
  if (errno !== undefined && RESOURCE_ERRORS.includes(errno)) return spawnFailures.noRoom(errno);
  if (NOT_EXECUTED.test(said)) return explainProgram(start, errno);
  if (/^Can't chdir to |: cd: /.test(text)) return explainCwd(start, errno);
  if (VANISHED.test(text)) return pathChanged(null);
  if (/namespace/i.test(text)) {
    const { reason, message, hint } = explainFailure(text);
    return new ExecError('sandboxUnavailable', message, { data: { reason, hint } });
  }
  const why = text === '' ? 'it ended before the program ran' : text;
  return new ExecError('sandboxUnavailable', `The sandbox could not be set up: ${why}.`, {
    data: {
      reason: 'setupFailed',
      hint: 'Look at the paths of the policy; "execwire doctor" tests the rest.',
    },
  });
}

function explainProgram({ name, program }: FailedStart, errno = 'EUNKNOWN'): ExecError {
  if (errno === 'ENOENT' && statSync(program, { throwIfNoEntry: false }))
    return spawnFailures.noInterpreter(name);
  if (errno === 'ENOENT' || errno === 'ENOTDIR') return spawnFailures.noProgram(name, errno);
  if (errno === 'EACCES') return spawnFailures.denied(name);
  if (errno === 'ENOEXEC') return spawnFailures.notAProgram(name);
  if (errno === 'E2BIG') return spawnFailures.tooLarge();
  return spawnFailure('systemError', `${name} could not be started.`, errno);
}

function explainCwd({ cwd }: FailedStart, errno = whyNotEntered(cwd)): ExecError {
  if (errno === 'EACCES') return spawnFailures.cwdDenied(cwd);
  return spawnFailures.noCwd(cwd, errno);
}

/** Some shells do not say why. */
function whyNotEntered(cwd: string): string {
  try {
    return statSync(cwd, { throwIfNoEntry: false }) ? 'EACCES' : 'ENOENT';
  } catch {
    return 'EACCES';
  }
}

/** Without the name of the program that printed it, and with paths as the caller knows them. */
function lastLine(said: string): string {
  const line = said.trim().split('\n').at(-1) ?? '';
  return line
    .replace(/^bwrap: /, '')
    .replaceAll(/\/(newroot|oldroot)(?=[/: ]|$)/g, '')
    .trim();
}
