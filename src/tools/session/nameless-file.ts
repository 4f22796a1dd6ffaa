import { constants } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Private: output may contain secrets. */
const FILE_MODE = 0o600;
/** Linux: a file without a name that never gets one. Node has no constant for it. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
/** The file system has no such files, or the kernel does not know them. */
const UNSUPPORTED = ['EOPNOTSUPP', 'ENOTSUP', 'EISDIR', 'EINVAL', 'ENOENT'];

export interface NamelessFile {
  readonly file: FileHandle;
  /** Closes the file and frees its space. */
  readonly release: () => Promise<void>;
}

/**
 * Creates a file that goes away with us, even if we crash. Confined programs may write to temporary directories and run
 * as our user, so a name of ours there can become a link to anywhere at any moment: we write to none and delete none
 * that could lead elsewhere.
 */
export async function openNamelessFile(parent: string): Promise<NamelessFile> {
  if (process.platform !== 'linux') return await openNamedFile(parent);
  const file = (await openWithoutName(parent)) ?? (await openUnlinked(parent));
  return { file, release: () => file.close() };
}

async function openWithoutName(parent: string): Promise<FileHandle | null> {
  try {
    return await open(parent, O_TMPFILE | constants.O_RDWR | constants.O_EXCL, FILE_MODE);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (UNSUPPORTED.includes(code)) return null;
    throw error;
  }
}

/** In a directory that is open: whatever its name leads to by now, the file is created and unlinked in there. */
export async function openUnlinked(parent: string): Promise<FileHandle> {
  const path = await mkdtemp(join(parent, 'execwire-spool-'));
  try {
    const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      const name = `/proc/self/fd/${directory.fd}/output`;
      const file = await open(name, 'wx+', FILE_MODE);
      await unlink(name).catch(() => undefined);
      return file;
    } finally {
      await directory.close();
    }
  } finally {
    await rmdir(path).catch(() => undefined);
  }
}

/** For systems without confined programs. Not all of them can unlink an open file. */
async function openNamedFile(parent: string): Promise<NamelessFile> {
  const directory = await mkdtemp(join(parent, 'execwire-spool-'));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true }).catch(() => undefined);
  try {
    const file = await open(join(directory, 'output'), 'wx+', FILE_MODE);
    return { file, release: () => file.close().then(remove) };
  } finally {
    await remove();
  }
}
