import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, open, readlink, rename, unlink } from 'node:fs/promises';
import type { WriteFileOptions } from '../../../contract/index.js';
import type { FastPath } from '../cached/fast-path.js';
import { canHoldDirectories, type HeldDirectory, holdDirectory, holdResolved } from './held-directory.js';
import { childOf, isRoot, kernelCalls, linux, nameOf, parentOf } from '../../kernel/index.js';
import { descriptorPath } from '../cached/place.js';
import { MAX_LINK_HOPS } from './limits.js';
import { hasOsCode, isSystemError, osError } from './os-error.js';
import { notAFile, writeFully } from './regular-file.js';
import { temporaryIn } from './temporary-name.js';
import { setTime } from './times.js';

/** Linux: a file without a name. Node has no constant for it. */
const O_TMPFILE = linux.__O_TMPFILE | constants.O_DIRECTORY;

/**
 * Writes an unnamed file, gives it a temporary name and renames it over the old one. Whatever goes wrong, the old file
 * stays intact and nothing is left over, even if the process is killed. Only between naming and renaming may it leave
 * the complete new file as `.execwire-….tmp`. Where unnamed files are not supported it may leave a partial one under
 * such a name.
 */
export async function replaceFile(
  path: Buffer,
  data: Uint8Array,
  options: WriteFileOptions & FastPath,
): Promise<void> {
  if (isRoot(path)) throw osError('EISDIR');
  const { exclusive = false, permissions, modifiedAtUs } = options;
  const follow = options.followSymlinks !== false;
  // What must not be there yet cannot be a link either.
  const target = follow && !exclusive ? await withoutLinks(path) : path;
  if (!canHoldDirectories && !follow) throw osError('ENOSYS');
  await using directory = await (follow ? holdResolved : holdDirectory)(parentOf(target));
  const isNamed = options.fastPath === false;
  const file = { data, permissions, modifiedAtUs, old: null };
  if (exclusive) await addTo(directory, nameOf(target), { file, isNamed });
  else await replaceIn(directory, nameOf(target), { file, isNamed });
}

async function replaceIn(
  directory: HeldDirectory,
  name: Buffer,
  { file, isNamed }: { file: NewFile; isNamed: boolean },
): Promise<void> {
  const renewed = { ...file, old: await replaceable(directory, name), isDurable: true };
  const temporary = temporaryIn(directory);
  try {
    if (isNamed || !(await writeUnnamed(directory, temporary, renewed))) await writeNamed(temporary, renewed);
    await rename(temporary, directory.at(name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await directory.sync();
}

/** Nothing old can get lost, so nothing waits for the disk. */
async function addTo(
  directory: HeldDirectory,
  name: Buffer,
  { file, isNamed }: { file: NewFile; isNamed: boolean },
): Promise<void> {
  const place = directory.at(name);
  if ((await lstatOrNull(place)) !== null) throw osError('EEXIST');
  if (!isNamed && (await writeUnnamed(directory, place, file))) return;
  const temporary = temporaryIn(directory);
  try {
    await writeNamed(temporary, file);
    await link(temporary, place);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/** The existing file; null if there is none. Throws for what a file must not replace. */
async function replaceable(directory: HeldDirectory, name: Buffer): Promise<Stats | null> {
  const old = await lstatOrNull(directory.at(name));
  if (old === null || old.isFile()) return old;
  if (old.isDirectory()) throw osError('EISDIR');
  if (old.isSymbolicLink()) throw osError('ELOOP');
  throw notAFile(name);
}

/** The content of the new file, and the old file whose owner and mode it takes over. */
interface NewFile {
  readonly data: Uint8Array;
  readonly old: Stats | null;
  /** Those it gets, whatever the old one had. */
  readonly permissions: number | undefined;
  readonly modifiedAtUs: number | undefined;
  /** Whether it must survive a power cut. */
  readonly isDurable?: boolean;
}

/** False if unnamed files are not supported, or cannot be linked. */
async function writeUnnamed(directory: HeldDirectory, name: Buffer, file: NewFile): Promise<boolean> {
  const calls = kernelCalls();
  if (calls === null) return false;
  let handle: FileHandle;
  try {
    handle = await open(directory.at(), constants.O_WRONLY | O_TMPFILE, modeOf(file));
  } catch (error) {
    // Several codes mean that the file system has no support. Any other problem will recur on the fallback path.
    if (isSystemError(error)) return false;
    throw error;
  }
  try {
    await fill(handle, file);
    return (await calls.link(descriptorPath(handle.fd), Buffer.concat([name, Buffer.of(0)]))) === 0;
  } finally {
    await handle.close();
  }
}

async function writeNamed(path: Buffer, file: NewFile): Promise<void> {
  await using handle = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    modeOf(file),
  );
  await fill(handle, file);
}

function modeOf({ old, permissions }: NewFile): number {
  return permissions ?? (old === null ? 0o666 : old.mode & 0o777);
}

async function fill(handle: FileHandle, file: NewFile): Promise<void> {
  const { data, old, permissions = old === null ? undefined : old.mode & 0o7777 } = file;
  await writeFully(handle, data, 0);
  if (old !== null) {
    const own = await handle.stat();
    // Only root can give files away; for everyone else the new file is simply theirs.
    if (own.uid !== old.uid || own.gid !== old.gid)
      await handle.chown(old.uid, old.gid).catch(() => undefined);
  }
  // After chown, which clears the set-id bits, and against the umask.
  if (permissions !== undefined) await handle.chmod(permissions);
  await setTime(handle, file.modifiedAtUs);
  if (file.isDurable) await handle.sync();
}

/** The final target of the link, or chain of links, at `path`, existing or not. */
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
