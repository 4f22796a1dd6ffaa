import { lutimes, rename, symlink, unlink } from 'node:fs/promises';
import type { CreateSymlinkOptions } from '../../../contract/index.js';
import { isRoot, nameOf, parentOf } from '../../kernel/index.js';
import { holdParent, holdResolved } from './held-directory.js';
import { osError } from './os-error.js';
import { temporaryIn } from './temporary-name.js';
import { timesOf } from './times.js';

/** Never follows an existing link of that name: a new link is made beside it, then renamed over it if it may replace it. */
export async function createSymlink(
  path: Buffer,
  target: Buffer,
  options: CreateSymlinkOptions,
): Promise<void> {
  if (isRoot(path)) throw osError('EEXIST');
  const { replace = false, modifiedAtUs } = options;
  await using directory = await (options.followSymlinks === false
    ? holdParent(path)
    : holdResolved(parentOf(path)));
  const place = directory.at(nameOf(path));
  const made = replace ? temporaryIn(directory) : place;
  await symlink(target, made);
  try {
    if (modifiedAtUs !== undefined) await lutimes(made, ...timesOf(modifiedAtUs));
    if (replace) await rename(made, place);
  } catch (error) {
    await unlink(made).catch(() => undefined);
    throw error;
  }
}
