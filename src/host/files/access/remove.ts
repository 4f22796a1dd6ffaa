import type { Dirent } from 'node:fs';
import { lstat, rm, rmdir, unlink } from 'node:fs/promises';
import type { LinkOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { concurrently } from './concurrently.js';
import { Descent } from './descent.js';
import { entriesOf } from './directories.js';
import { canHoldDirectories, type HeldDirectory, holdParent, holdResolved } from './held-directory.js';
import { isRoot, nameOf, parentOf } from '../../kernel/index.js';
import { containsLink } from './metadata.js';
import { hasOsCode, osError } from './os-error.js';

/** Concurrent removals: they wait for the disk more than for us. */
const REMOVE_CONCURRENCY = 32;

/** Directory names kept per level before they are processed. Then the listing starts over, without them. */
const MAX_WAITING_DIRECTORIES = 1000;

type RemoveOptions = LinkOptions & { readonly recursive?: boolean; readonly force?: boolean };

export async function remove(path: Buffer, options: RemoveOptions): Promise<void> {
  // Before anything else: entering the root would delete the machine up to the first entry that resists.
  if (isRoot(path)) throw osError('EPERM');
  const recursive = options.recursive ?? true;
  if (options.followSymlinks === false && recursive)
    throw new ExecError('ioFailed', 'recursive no-follow removal is unsupported');
  try {
    if (options.followSymlinks === false) await removeNoLinks(path);
    else if (!recursive) await removeOne(path);
    else await removeTree(path);
  } catch (error) {
    if ((options.force ?? true) && hasOsCode(error, 'ENOENT')) return;
    throw error;
  }
}

async function removeNoLinks(path: Buffer): Promise<void> {
  await using parent = await holdParent(path);
  const own = parent.at(nameOf(path));
  if ((await lstat(own)).isSymbolicLink()) throw containsLink();
  await removeOne(own);
}

async function removeOne(path: Buffer): Promise<void> {
  if ((await lstat(path)).isDirectory()) await rmdir(path);
  else await unlink(path);
}

async function removeTree(path: Buffer): Promise<void> {
  if (!canHoldDirectories) {
    await rm(path, { recursive: true });
    return;
  }
  await using descent = new Descent(await holdResolved(parentOf(path)));
  const name = nameOf(path);
  if ((await lstat(descent.at(name))).isDirectory()) await removeDirectory(descent, name);
  else await unlink(descent.at(name));
}

/** What is left to do in a directory. */
interface Remainder {
  /** Subdirectories, to be removed one by one. */
  readonly directories: Buffer[];
  /** It holds more entries that were not looked at. */
  readonly more: boolean;
}

/** Removes `top` and everything in it, deepest first. A directory swapped for a link is never entered. */
async function removeDirectory(descent: Descent, top: Buffer): Promise<void> {
  await descent.enter(top);
  const levels = [await removeLeaves(descent.here)];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const name = level.directories.pop();
    if (name !== undefined) {
      if (await entered(descent, name)) levels.push(await removeLeaves(descent.here));
    } else if (level.more) {
      levels[levels.length - 1] = await removeLeaves(descent.here);
    } else {
      levels.pop();
      const emptied = await descent.leave();
      const removal = rmdir(descent.at(emptied));
      await (levels.length > 0 ? ignoringMissing(removal) : removal);
    }
  }
}

/** False if it is no longer a directory. What took its place is removed. */
async function entered(descent: Descent, name: Buffer): Promise<boolean> {
  try {
    await descent.enter(name);
    return true;
  } catch (error) {
    if (hasOsCode(error, 'ENOTDIR', 'ELOOP')) await ignoringMissing(unlink(descent.at(name)));
    else if (!hasOsCode(error, 'ENOENT')) throw error;
    return false;
  }
}

/** Removes everything in a directory except subdirectories. */
async function removeLeaves(directory: HeldDirectory): Promise<Remainder> {
  const directories: Buffer[] = [];
  let more = false;
  const children = async function* (): AsyncGenerator<Dirent<Buffer>> {
    for await (const child of entriesOf(directory.at())) {
      more = directories.length >= MAX_WAITING_DIRECTORIES;
      if (more) return;
      yield child;
    }
  };
  const removal = concurrently(children(), REMOVE_CONCURRENCY, async (child) => {
    if (child.isDirectory() || !(await unlinked(directory, child.name))) directories.push(child.name);
  });
  await ignoringMissing(removal);
  return { directories, more };
}

/** False for a directory: the listing may not know the kind, and a file may have become one. */
async function unlinked(directory: HeldDirectory, name: Buffer): Promise<boolean> {
  try {
    await ignoringMissing(unlink(directory.at(name)));
    return true;
  } catch (error) {
    if (hasOsCode(error, 'EISDIR')) return false;
    // Some systems return this for directories, and all of them for protected files.
    const isDirectory = async () =>
      (await lstat(directory.at(name)).catch(() => null))?.isDirectory() === true;
    if (hasOsCode(error, 'EPERM') && (await isDirectory())) return false;
    throw error;
  }
}

/** Below the start a missing entry is fine: someone else removed it. */
async function ignoringMissing(removal: Promise<void>): Promise<void> {
  await removal.catch((error: unknown) => {
    if (!hasOsCode(error, 'ENOENT')) throw error;
  });
}
