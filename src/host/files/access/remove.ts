import { lstat, rm, rmdir, unlink } from 'node:fs/promises';
import type { LinkOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { entriesOf } from './directories.js';
import { canHoldDirectories, type HeldDirectory, holdParent, holdResolved } from './held-directory.js';
import { isRoot, nameOf, parentOf } from '../../kernel/host-path.js';
import { containsLink } from './metadata.js';
import { hasOsCode, osError } from './os-error.js';

/** Removals under way at a time: they wait for the disk more than for us. */
const REMOVE_CONCURRENCY = 32;

type RemoveOptions = LinkOptions & { readonly recursive?: boolean; readonly force?: boolean };

export async function remove(path: Buffer, options: RemoveOptions): Promise<void> {
  // Before anything else: going into the root would delete the machine up to the first entry that resists.
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
  await using parent = await holdResolved(parentOf(path));
  await removeIn(parent, nameOf(path));
}

/** Removes `name` with all it holds. Goes by descriptors, so that a directory swapped for a link is never entered. */
async function removeIn(parent: HeldDirectory, name: Buffer): Promise<void> {
  const own = parent.at(name);
  if (!(await lstat(own)).isDirectory()) return unlink(own);
  {
    await using directory = await parent.enter(name);
    await removeChildren(directory);
  }
  await rmdir(own);
}

/** Files go several at a time, directories one by one: each level of those holds a descriptor. */
async function removeChildren(directory: HeldDirectory): Promise<void> {
  let leaves: Promise<void>[] = [];
  try {
    for await (const child of entriesOf(directory.at())) {
      if (child.isDirectory()) await ignoringMissing(removeIn(directory, child.name));
      else leaves.push(ignoringMissing(removeLeaf(directory, child.name)));
      if (leaves.length < REMOVE_CONCURRENCY) continue;
      await Promise.all(leaves);
      leaves = [];
    }
    await Promise.all(leaves);
  } finally {
    // None may go on once the directory is let go of.
    await Promise.allSettled(leaves);
  }
}

async function removeLeaf(directory: HeldDirectory, name: Buffer): Promise<void> {
  try {
    await unlink(directory.at(name));
  } catch (error) {
    // The listing may not know the kind, and a file may have become a directory.
    if (!hasOsCode(error, 'EISDIR', 'EPERM')) throw error;
    await removeIn(directory, name);
  }
}

/** Below the start a missing entry is what was wanted: somebody else removed it. */
async function ignoringMissing(removal: Promise<void>): Promise<void> {
  await removal.catch((error: unknown) => {
    if (!hasOsCode(error, 'ENOENT')) throw error;
  });
}
