import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { ExecError, isExecError } from '../../../protocol/errors.js';
import { linux, openWithoutLinks } from '../../kernel/index.js';

/** Opens a path that was examined before. If it now passes through a link, it is no longer the place we examined. */
export function openExactly(path: string): number {
  try {
    return openPlace(path);
  } catch (error) {
    throw error instanceof ExecError ? error : pathChanged(path, error);
  }
}

/** Like `openExactly`, but throws the kernel's own error if it refuses. */
export function openPlace(path: string): number {
  const exact = openWithoutLinks(path);
  if (exact !== null) return exact;
  const fd = openSync(path, linux.O_PATH | constants.O_NOFOLLOW);
  // A descriptor may also refer to a link itself.
  if (readlinkSync(`/proc/self/fd/${fd}`) === path && !fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw pathChanged(path);
}

/** The policy was planned for a path that is not what it was. Planning again helps. */
export function pathChanged(path: string | null, cause?: unknown): ExecError {
  const what = path === null ? 'A path of the policy' : `The path ${path}`;
  return new ExecError('sandboxUnavailable', `${what} changed while the sandbox was set up.`, {
    data: { reason: 'pathChanged', hint: 'Try again.' },
    cause,
  });
}

export function isPathChange(error: unknown): boolean {
  return isExecError(error, 'sandboxUnavailable') && error.data.reason === 'pathChanged';
}
