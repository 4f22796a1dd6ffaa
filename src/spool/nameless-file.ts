import { closeSync, constants, mkdtempSync, openSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE } from './private-directory.js';

/** Creates a file without a name (Linux). Node has no constant for it. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
/** The errors if the file system or the kernel does not support this. */
const UNSUPPORTED = ['EOPNOTSUPP', 'ENOTSUP', 'EISDIR', 'EINVAL', 'ENOENT'];

export interface NamelessFile {
  readonly descriptor: number;
  /** Closes the file and frees its space. */
  readonly release: () => void;
}

/**
 * Creates a file that disappears with us, even if we crash. Confined programs may write to temporary directories and run as our
 * user, so any name there can become a link to anywhere at any moment. We never write or delete through such a name.
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

/** Uses an open directory, so that the file is created and unlinked there, wherever the directory's name leads by now. */
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

/** For systems that have no confined programs. Not all of them can unlink an open file. */
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

/** Ignores failures, because the file can be used even if its name cannot be removed. */
function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // Someone else has removed or replaced it.
  }
}
