import type { Dirent } from 'node:fs';
import { mkdir, opendir, stat } from 'node:fs/promises';
import type { LinkOptions } from '../../../contract/index.js';
import { holdDirectory, holdParent } from './held-directory.js';
import { isRoot, nameOf, parentOf } from '../../kernel/index.js';
import { DIRECTORY_BATCH } from './limits.js';
import { hasOsCode, osError } from './os-error.js';

type CreateOptions = LinkOptions & { readonly recursive?: boolean };

export async function createDirectory(path: Buffer, options: CreateOptions): Promise<void> {
  const recursive = options.recursive ?? true;
  if (options.followSymlinks === false) await createNoLinks(path, recursive);
  else if (recursive) await createWithParents(path);
  else await mkdir(path);
}

async function createNoLinks(path: Buffer, recursive: boolean): Promise<void> {
  if (recursive) {
    await using _made = await holdDirectory(path, { create: true });
    return;
  }
  if (isRoot(path)) throw osError('EEXIST');
  await using parent = await holdParent(path);
  await mkdir(parent.at(nameOf(path)));
}

/** `mkdir -p`. Node's own refuses paths that are bytes in some versions and reports ENOTDIR as EEXIST in others. */
async function createWithParents(path: Buffer): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (hasOsCode(error, 'ENOENT') && !isRoot(path)) {
      await createWithParents(parentOf(path));
      await createWithParents(path);
    } else if (!hasOsCode(error, 'EEXIST') || !(await stat(path)).isDirectory()) throw error;
  }
}

/** The entries of a directory as they come, names as bytes. */
export async function* entriesOf(path: Buffer): AsyncGenerator<Dirent<Buffer>> {
  // The declared type lacks `buffer`; without it names that are not UTF-8 could not be used again.
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: DIRECTORY_BATCH };
  for await (const entry of await opendir(path, options)) yield entry as unknown as Dirent<Buffer>;
}
