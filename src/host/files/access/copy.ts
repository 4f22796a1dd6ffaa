import type { Stats } from 'node:fs';
import {
  type FileHandle,
  lstat,
  lutimes,
  mkdir,
  readlink,
  realpath,
  stat,
  symlink,
  utimes,
} from 'node:fs/promises';
import type { CopyOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { Descent } from './descent.js';
import { entriesOf } from './directories.js';
import { type HeldDirectory, holdResolved } from './held-directory.js';
import { childOf, isRoot, isWithin, nameOf, parentOf } from '../../kernel/index.js';
import { IO_CHUNK_BYTES } from './limits.js';
import { hasOsCode } from './os-error.js';
import { openToRead, openToWrite, writeFully } from './regular-file.js';
import { modifiedAtUs, setTime, timesOf } from './times.js';

/** Total number of pending directories, whose names must be kept in memory. */
const MAX_WAITING_DIRECTORIES = 1_000_000;

export async function copy(source: Buffer, destination: Buffer, options: CopyOptions): Promise<void> {
  const { recursive = false, keepTimes = false } = options;
  const stats = await lstat(source);
  if (stats.isDirectory()) {
    if (!recursive)
      throw new ExecError('invalidFile', 'fs/copy requires recursive: true when sourcePath is a directory');
    await requireOutside(source, destination);
    await createParents(destination);
    await copyTree(source, destination, keepTimes);
  } else if (!(await copyLeaf(source, destination, { stats, keepTimes }))) {
    throw new ExecError('invalidFile', 'fs/copy only supports regular files, directories, and symlinks');
  }
}

/** A source directory that was swapped for a link is never entered. In the destination links are followed, as usual. */
async function copyTree(source: Buffer, destination: Buffer, keepTimes: boolean): Promise<void> {
  await using from = new Descent(await holdResolved(parentOf(source)));
  await using to = new Descent(await holdResolved(parentOf(destination)), { followSymlinks: true });
  const waiting: Buffer[][] = [[]];
  let count = 0;
  const enter = async (name: Buffer, newName: Buffer): Promise<void> => {
    await from.enter(name);
    await makeOrMerge(to.at(newName), await from.here.mode());
    await to.enter(newName);
    const directories = await copyLeaves(from.here, to.here, keepTimes);
    count += directories.length;
    if (count > MAX_WAITING_DIRECTORIES)
      throw new ExecError('ioFailed', 'The tree has too many directories to be copied in one call.');
    waiting.push(directories);
  };
  await enter(nameOf(source), nameOf(destination));
  for (let level = waiting.at(-1); level !== undefined && waiting.length > 1; level = waiting.at(-1)) {
    const name = level.pop();
    if (name !== undefined) {
      count -= 1;
      await enter(name, name);
    } else {
      waiting.pop();
      // Last: whatever is put into a directory makes it young again.
      if (keepTimes) await utimes(to.here.at(), ...timesOf(modifiedAtUs(await stat(from.here.at()))));
      await from.leave();
      await to.leave();
    }
  }
}

/** Copies everything in a directory except directories, whose names it returns. */
async function copyLeaves(from: HeldDirectory, to: HeldDirectory, keepTimes: boolean): Promise<Buffer[]> {
  const directories: Buffer[] = [];
  for await (const { name } of entriesOf(from.at())) {
    const stats = await lstat(from.at(name));
    if (stats.isDirectory()) directories.push(name);
    else await copyLeaf(from.at(name), to.at(name), { stats, keepTimes });
  }
  return directories;
}

/** False for what has no content of its own: devices, FIFOs, sockets. */
async function copyLeaf(
  source: Buffer,
  destination: Buffer,
  { stats, keepTimes }: { stats: Stats; keepTimes: boolean },
): Promise<boolean> {
  if (stats.isSymbolicLink()) {
    await symlink(await readlink(source, { encoding: 'buffer' }), destination);
    if (keepTimes) await lutimes(destination, ...timesOf(modifiedAtUs(stats)));
  } else if (stats.isFile()) await copyFile(source, destination, keepTimes);
  else return false;
  return true;
}

/** The source was not a link when we checked; a link that took its place since is refused. */
async function copyFile(source: Buffer, destination: Buffer, keepTimes: boolean): Promise<void> {
  const from = await openToRead(source, { followSymlinks: false });
  try {
    // With its final permissions from the start: private content must not be readable meanwhile.
    const to = await openToWrite(destination, { mode: from.stats.mode & 0o777 });
    try {
      if (from.stats.ino === to.stats.ino && from.stats.dev === to.stats.dev)
        throw new ExecError('invalidPath', 'source and destination are the same file');
      if (to.stats.size > 0) await to.handle.truncate(0);
      await pump(from.handle, to.handle);
      if (keepTimes) await setTime(to.handle, modifiedAtUs(from.stats));
      await to.handle.chmod(modeOfCopy(from.stats, to.stats));
    } finally {
      await to.handle.close();
    }
  } finally {
    await from.handle.close();
  }
}

/** A program with one of these bits lends its owner's or group's privileges to whoever runs it. */
const SET_USER_ID = 0o4000;
const SET_GROUP_ID = 0o2000;

/** A copy that belongs to someone else must not lend that user's privileges. */
function modeOfCopy(original: Stats, copied: Stats): number {
  const userBit = original.uid === copied.uid ? SET_USER_ID : 0;
  const groupBit = original.gid === copied.gid ? SET_GROUP_ID : 0;
  return original.mode & (0o1777 | userBit | groupBit);
}

async function pump(from: FileHandle, to: FileHandle): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(IO_CHUNK_BYTES);
  for (let offset = 0; ; ) {
    const { bytesRead } = await from.read(buffer, 0, buffer.length, offset);
    if (bytesRead === 0) return;
    await writeFully(to, buffer.subarray(0, bytesRead), offset);
    offset += bytesRead;
  }
}

/** The new directory stays writable for its owner; otherwise it could not be filled. */
async function makeOrMerge(path: Buffer, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode: (mode & 0o777) | 0o700 });
  } catch (error) {
    if (!hasOsCode(error, 'EEXIST') || !(await stat(path)).isDirectory()) throw error;
  }
}

async function createParents(path: Buffer): Promise<void> {
  const parent = parentOf(path);
  try {
    await mkdir(parent);
  } catch (error) {
    if (hasOsCode(error, 'EEXIST')) return;
    if (!hasOsCode(error, 'ENOENT') || isRoot(parent)) throw error;
    await createParents(parent);
    await mkdir(parent);
  }
}

async function requireOutside(source: Buffer, destination: Buffer): Promise<void> {
  const from = await realpath(source, { encoding: 'buffer' });
  if (isWithin(await realPlace(destination), from))
    throw new ExecError('invalidPath', 'fs/copy cannot copy a directory to itself or one of its descendants');
}

/** The path with links resolved as far as it exists; the rest unchanged. */
async function realPlace(path: Buffer): Promise<Buffer> {
  try {
    return await realpath(path, { encoding: 'buffer' });
  } catch (error) {
    if (!hasOsCode(error, 'ENOENT') || isRoot(path)) throw error;
    return childOf(await realPlace(parentOf(path)), nameOf(path));
  }
}
