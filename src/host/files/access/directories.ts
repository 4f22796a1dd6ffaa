import type { Dirent } from 'node:fs';
import { chmod, mkdir, opendir, stat, utimes } from 'node:fs/promises';
import type { CreateDirectoryOptions } from '../../../contract/index.js';
import { holdDirectory, holdParent } from './held-directory.js';
import { isRoot, nameOf, parentOf } from '../../kernel/index.js';
import { DIRECTORY_BATCH } from './limits.js';
import { hasOsCode, osError } from './os-error.js';
import { timesOf } from './times.js';

/** Never closed to others too late: it is made with the permissions, which the umask can only narrow, and then gets them. */
export async function createDirectory(path: Buffer, options: CreateDirectoryOptions): Promise<void> {
  const { recursive = true, permissions } = options;
  if (options.followSymlinks === false) return await createNoLinks(path, options);
  if (recursive) await createWithParents(path, permissions);
  else await mkdir(path, permissions);
  await complete(path, options);
}

/** The time first: afterwards it may be closed to us. */
async function complete(path: Buffer, { permissions, modifiedAtUs }: CreateDirectoryOptions): Promise<void> {
  if (modifiedAtUs !== undefined) await utimes(path, ...timesOf(modifiedAtUs));
  if (permissions !== undefined) await chmod(path, permissions);
}

async function createNoLinks(path: Buffer, options: CreateDirectoryOptions): Promise<void> {
  const { recursive = true, permissions, modifiedAtUs } = options;
  if (recursive) {
    await using made = await holdDirectory(path, { create: true });
    return await complete(made.at(), options);
  }
  if (isRoot(path)) throw osError('EEXIST');
  await using parent = await holdParent(path);
  await mkdir(parent.at(nameOf(path)), permissions);
  if (permissions === undefined && modifiedAtUs === undefined) return;
  await using made = await parent.enter(nameOf(path));
  await complete(made.at(), options);
}

/** `mkdir -p`. Node's own rejects paths given as bytes in some versions and reports ENOTDIR as EEXIST in others. */
async function createWithParents(path: Buffer, permissions?: number): Promise<void> {
  if (await isMade(path, permissions)) return;
  if (!isRoot(path)) await createWithParents(parentOf(path));
  // Once only: in /proc, a directory cannot be made for want of a parent that exists.
  if (!(await isMade(path, permissions))) throw osError('ENOENT');
}

/** False if its parent is missing. */
async function isMade(path: Buffer, permissions?: number): Promise<boolean> {
  try {
    await mkdir(path, permissions);
  } catch (error) {
    if (hasOsCode(error, 'ENOENT')) return false;
    if (!hasOsCode(error, 'EEXIST') || !(await stat(path)).isDirectory()) throw error;
  }
  return true;
}

/** The entries of a directory in disk order, names as bytes. */
export async function* entriesOf(path: Buffer): AsyncGenerator<Dirent<Buffer>> {
  // The declared type lacks `buffer`; without it names that are not UTF-8 could not be used again.
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: DIRECTORY_BATCH };
  for await (const entry of await opendir(path, options)) yield entry as unknown as Dirent<Buffer>;
}
