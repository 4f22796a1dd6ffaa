import type { LinkOptions } from '../../../contract/index.js';
import type { FastPath } from '../cached/fast-path.js';
import { holdParent } from './held-directory.js';
import { nameOf } from '../../kernel/index.js';
import { type OpenFile, openToOverwrite, writeFully } from './regular-file.js';
import { replaceFile } from './replace-file.js';

type WriteOptions = LinkOptions & FastPath & { readonly atomic?: boolean };

export async function writeFile(path: Buffer, data: Uint8Array, options: WriteOptions): Promise<void> {
  if (options.atomic === true) await replaceFile(path, data, options);
  else await overwriteFile(path, data, options);
}

async function overwriteFile(path: Buffer, data: Uint8Array, options: LinkOptions): Promise<void> {
  const { handle, stats } = await openFor(path, options);
  try {
    if (stats.isFile() && stats.size > 0) await handle.truncate(0);
    await writeFully(handle, data, 0);
  } finally {
    await handle.close();
  }
}

async function openFor(path: Buffer, options: LinkOptions): Promise<OpenFile> {
  if (options.followSymlinks !== false) return openToOverwrite(path);
  await using parent = await holdParent(path);
  return await openToOverwrite(parent.at(nameOf(path)), { shownAs: path, followSymlinks: false });
}
