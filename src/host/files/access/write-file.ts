import type { WriteFileOptions } from '../../../contract/index.js';
import type { FastPath } from '../cached/fast-path.js';
import { holdParent } from './held-directory.js';
import { nameOf } from '../../kernel/index.js';
import { type OpenFile, openToOverwrite, writeFully } from './regular-file.js';
import { replaceFile } from './replace-file.js';
import { setTime } from './times.js';

export async function writeFile(
  path: Buffer,
  data: Uint8Array,
  options: WriteFileOptions & FastPath,
): Promise<void> {
  if (options.atomic === true || options.exclusive === true) await replaceFile(path, data, options);
  else await overwriteFile(path, data, options);
}

async function overwriteFile(path: Buffer, data: Uint8Array, options: WriteFileOptions): Promise<void> {
  const { handle, stats } = await openFor(path, options);
  try {
    // A device belongs to no single user.
    if (options.permissions !== undefined && stats.isFile()) await handle.chmod(options.permissions);
    if (stats.isFile() && stats.size > 0) await handle.truncate(0);
    await writeFully(handle, data, 0);
    if (stats.isFile()) await setTime(handle, options.modifiedAtUs);
  } finally {
    await handle.close();
  }
}

async function openFor(path: Buffer, options: WriteFileOptions): Promise<OpenFile> {
  const mode = options.permissions === undefined ? {} : { mode: options.permissions };
  if (options.followSymlinks !== false) return openToOverwrite(path, mode);
  await using parent = await holdParent(path);
  return await openToOverwrite(parent.at(nameOf(path)), {
    ...mode,
    shownAs: path,
    followSymlinks: false,
  });
}
