import type { Stats } from 'node:fs';
import { lstat, readlink, stat } from 'node:fs/promises';
import type { FileMetadata, LinkDetails, MetadataOptions } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { holdParent } from './held-directory.js';
import { isRoot, nameOf } from '../../kernel/index.js';
import { hasOsCode } from './os-error.js';
import { modifiedAtUs } from './times.js';

export async function getMetadata(path: Buffer, options: MetadataOptions): Promise<FileMetadata> {
  const { stats, own } = await lookAt(path, options);
  const isSymlink = own.isSymbolicLink();
  const description = described(stats, isSymlink);
  if (options.details !== true) return description;
  const details = { mode: stats.mode & 0o7777, modifiedAtUs: modifiedAtUs(stats) };
  return { ...description, ...details, ...(isSymlink ? await linkAt(path, own) : {}) };
}

/** What a link says; nothing if something else has taken its place. */
export async function linkAt(path: Buffer, own: Stats): Promise<{ link?: LinkDetails }> {
  try {
    const target = await readlink(path, { encoding: 'buffer' });
    return { link: { target, modifiedAtUs: modifiedAtUs(own) } };
  } catch (error) {
    if (hasOsCode(error, 'EINVAL')) return {};
    throw error;
  }
}

async function lookAt(path: Buffer, options: MetadataOptions): Promise<{ stats: Stats; own: Stats }> {
  if (options.followSymlinks === false) {
    const stats = await lstatNoLinks(path);
    return { stats, own: stats };
  }
  const [stats, own] = await Promise.all([stat(path), lstat(path)]);
  return { stats, own };
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
