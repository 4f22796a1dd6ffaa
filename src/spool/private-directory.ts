import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { ExecError } from '../protocol/errors.js';

/** Accessible only to us, because output may contain secrets. */
const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * Makes sure that a directory exists that nobody else can write to, so that nobody can plant links in it or replace its
 * content. Throws `spoolUnavailable` otherwise.
 */
export function requirePrivateDirectory(path: string): void {
  try {
    let stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) {
      mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
      stats = lstatSync(path);
    }
    const fault = faultOf(stats) ?? parentFault(lstatSync(dirname(path)));
    if (fault === null) return;
    throw new ExecError('spoolUnavailable', `The spool directory ${fault}. Choose another one with --spool.`);
  } catch (cause) {
    if (cause instanceof ExecError) throw cause;
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw new ExecError(
      'spoolUnavailable',
      'The spool directory cannot be created. Choose one with --spool.',
      {
        data: { reason },
        cause,
      },
    );
  }
}

/** Creates a private directory that does not exist yet. */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { mode: DIRECTORY_MODE });
}

function faultOf(stats: Stats): string | null {
  if (!stats.isDirectory()) return 'is a link or a file';
  if (process.geteuid && stats.uid !== process.geteuid()) return 'belongs to another user';
  return (stats.mode & WRITABLE_BY_OTHERS) === 0 ? null : 'can be changed by other users';
}

/** Checks the parent, because anyone who can rename the directory can replace it. */
function parentFault(stats: Stats): string | null {
  const isShared = (stats.mode & WRITABLE_BY_OTHERS) !== 0 && (stats.mode & STICKY) === 0;
  return isShared ? 'can be replaced by other users' : null;
}
