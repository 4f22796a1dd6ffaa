import { constants, type Stats } from 'node:fs';
import { lstat, open, readlink, rename, unlink } from 'node:fs/promises';
import type { LinkOptions } from '../../contract/index.js';
import { randomBytes } from '../random.js';
import {
  canHoldDirectories,
  type HeldDirectory,
  holdDirectory,
  holdParent,
  holdResolved,
} from './held-directory.js';
import { childOf, isRoot, nameOf, parentOf } from './host-path.js';
import { MAX_LINK_HOPS } from './limits.js';
import { hasOsCode, osError } from './os-error.js';
import { notAFile, type OpenFile, openToOverwrite, writeFully } from './regular-file.js';

type WriteOptions = LinkOptions & { readonly atomic?: boolean };

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

/** Writes beside the file and renames over it. Whatever goes wrong, the old file is whole and nothing is left over. */
async function replaceFile(path: Buffer, data: Uint8Array, options: LinkOptions): Promise<void> {
  if (isRoot(path)) throw osError('EISDIR');
  const follow = options.followSymlinks !== false;
  const target = follow ? await withoutLinks(path) : path;
  if (!canHoldDirectories && !follow) throw osError('ENOSYS');
  await using directory = await (follow ? holdResolved : holdDirectory)(parentOf(target));
  await replaceIn(directory, nameOf(target), data);
}

async function replaceIn(directory: HeldDirectory, name: Buffer, data: Uint8Array): Promise<void> {
  const old = await replaceable(directory, name);
  const temporary = directory.at(Buffer.from(`.execwire-${randomBytes(9).toString('hex')}.tmp`));
  try {
    await writeNew(temporary, data, old);
    await rename(temporary, directory.at(name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await directory.sync();
}

/** What is there now, null if nothing. Throws for what a file must not replace. */
async function replaceable(directory: HeldDirectory, name: Buffer): Promise<Stats | null> {
  const old = await lstatOrNull(directory.at(name));
  if (old === null || old.isFile()) return old;
  if (old.isDirectory()) throw osError('EISDIR');
  if (old.isSymbolicLink()) throw osError('ELOOP');
  throw notAFile(name);
}

async function writeNew(path: Buffer, data: Uint8Array, old: Stats | null): Promise<void> {
  const mode = old === null ? 0o666 : old.mode & 0o777;
  await using file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  await writeFully(file, data, 0);
  if (old !== null) {
    const own = await file.stat();
    // Only root can give files away; for everyone else the new file is simply theirs.
    if (own.uid !== old.uid || own.gid !== old.gid) await file.chown(old.uid, old.gid).catch(() => undefined);
    // After chown, which clears the set-id bits, and against the umask.
    await file.chmod(old.mode & 0o7777);
  }
  await file.sync();
}

/** Where the link, or chain of links, at `path` leads, existing or not. */
async function withoutLinks(path: Buffer): Promise<Buffer> {
  let current = path;
  for (let hop = 0; hop < MAX_LINK_HOPS; hop++) {
    const stats = await lstatOrNull(current);
    if (stats === null || !stats.isSymbolicLink()) return current;
    const target = await readlink(current, { encoding: 'buffer' });
    current = target[0] === 0x2f ? target : childOf(parentOf(current), target);
  }
  throw osError('ELOOP');
}

async function lstatOrNull(path: Buffer): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasOsCode(error, 'ENOENT')) return null;
    throw error;
  }
}
