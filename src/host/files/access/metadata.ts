import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import type { FileMetadata, MetadataOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { holdParent } from './held-directory.js';
import { isRoot, nameOf } from '../../kernel/index.js';

export async function getMetadata(path: Buffer, options: MetadataOptions): Promise<FileMetadata> {
  const { stats, isSymlink } = await lookAt(path, options);
  const description = described(stats, isSymlink);
  return options.details === true ? { ...description, mode: stats.mode & 0o7777 } : description;
}

async function lookAt(path: Buffer, options: MetadataOptions): Promise<{ stats: Stats; isSymlink: boolean }> {
  if (options.followSymlinks === false) return { stats: await lstatNoLinks(path), isSymlink: false };
  const [stats, own] = await Promise.all([stat(path), lstat(path)]);
  return { stats, isSymlink: own.isSymbolicLink() };
}

async function lstatNoLinks(path: Buffer): Promise<Stats> {
  if (isRoot(path)) return lstat(path);
  await using parent = await holdParent(path);
  const stats = await lstat(parent.at(nameOf(path)));
  if (stats.isSymbolicLink()) throw containsLink();
  return stats;
}

export function containsLink(): ExecError {
  return new ExecError('invalidPath', 'path contains a symbolic link');
}

function described(stats: Stats, isSymlink: boolean): FileMetadata {
  return {
    isDirectory: stats.isDirectory(),
    isFile: stats.isFile(),
    isSymlink,
    size: stats.size,
    createdAtMs: Math.floor(stats.birthtimeMs),
    modifiedAtMs: Math.floor(stats.mtimeMs),
  };
}
