import { closeSync, constants, mkdtempSync, openSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE } from './private-directory.js';

/** Linux: a file without a name that never gets one. Node has no constant for it. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
/** The file system has no such files, or the kernel does not know them. */
const UNSUPPORTED = ['EOPNOTSUPP', 'ENOTSUP', 'EISDIR', 'EINVAL', 'ENOENT'];

export interface NamelessFile {
  readonly descriptor: number;
  /** Closes the file and frees its space. */
  readonly release: () => void;
}

/**
 * Creates a file that goes away with us, even if we crash. Confined programs may write to temporary directories and run
 * as our user, so a name of ours there can become a link to anywhere at any moment: we write to none and delete none
 * that could lead elsewhere.
 */
export function openNamelessFile(parent: string): NamelessFile {
  if (process.platform !== 'linux') return openNamedFile(parent);
  const descriptor = openWithoutName(parent) ?? openUnlinked(parent);
  return { descriptor, release: () => closeSync(descriptor) };
}

function openWithoutName(parent: string): number | null {
  try {
    return openSync(parent, O_TMPFILE | constants.O_RDWR | constants.O_EXCL, FILE_MODE);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (UNSUPPORTED.includes(code)) return null;
    throw error;
  }
}

/** In a directory that is open: whatever its name leads to by now, the file is created and unlinked in there. */
export function openUnlinked(parent: string): number {
  const path = mkdtempSync(join(parent, 'execwire-spool-'));
  try {
    const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const name = `/proc/self/fd/${directory}/output`;
      const descriptor = openSync(name, 'wx+', FILE_MODE);
      attempt(() => unlinkSync(name));
      return descriptor;
    } finally {
      closeSync(directory);
    }
  } finally {
    attempt(() => rmdirSync(path));
  }
}

/** For systems without confined programs. Not all of them can unlink an open file. */
function openNamedFile(parent: string): NamelessFile {
  const directory = mkdtempSync(join(parent, 'execwire-spool-'));
  const remove = (): void => attempt(() => rmSync(directory, { recursive: true, force: true }));
  try {
    const descriptor = openSync(join(directory, 'output'), 'wx+', FILE_MODE);
    const release = (): void => {
      closeSync(descriptor);
      remove();
    };
    return { descriptor, release };
  } finally {
    remove();
  }
}

/** A name that cannot be removed is no reason to do without the file. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // Somebody else has removed it, or put something else in its place.
  }
}
