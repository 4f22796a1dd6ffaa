import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { ExecError } from '../../../protocol/errors.js';
import { linux, openWithoutLinks } from '../../kernel/index.js';

/** A handle on a place that was looked at before. A path that passes a link now is another place than the one looked at. */
export function openExactly(path: string): number {
  try {
    return openPlace(path);
  } catch (error) {
    throw error instanceof ExecError ? error : pathChanged(path, error);
  }
}

/** The same; where the kernel refuses it, its own error says why. */
export function openPlace(path: string): number {
  const exact = openWithoutLinks(path);
  if (exact !== null) return exact;
  const fd = openSync(path, linux.O_PATH | constants.O_NOFOLLOW);
  // A handle on a link is possible too, and is the link itself.
  if (readlinkSync(`/proc/self/fd/${fd}`) === path && !fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw pathChanged(path);
}

function pathChanged(path: string, cause?: unknown): ExecError {
  return new ExecError('sandboxUnavailable', `The path ${path} changed while the sandbox was set up.`, {
    data: { reason: 'pathChanged', hint: 'Try again.' },
    cause,
  });
}
