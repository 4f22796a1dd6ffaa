import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import type { DirectoryEntry } from '../../../contract/index.js';
import { ExecError } from '../../../protocol/errors.js';
import { listDirectory } from './directory-listing.js';
import { childOf, shownPath } from '../../kernel/index.js';
import type { FastPath } from '../cached/fast-path.js';
import { MAX_DIRECTORY_ENTRIES, STAT_CONCURRENCY } from './limits.js';
import { linkAt } from './metadata.js';
import { hasOsCode } from './os-error.js';
import { modifiedAtUs } from './times.js';

export async function readDirectory(
  path: Buffer,
  options: FastPath & { details?: boolean },
): Promise<DirectoryEntry[]> {
  const details = options.details === true;
  const entries: DirectoryEntry[] = [];
  const unclear: Buffer[] = [];
  const listed = await listDirectory(path, MAX_DIRECTORY_ENTRIES + 1, options);
  if (listed.length > MAX_DIRECTORY_ENTRIES) throw tooManyEntries();
  for (const { name, kind } of listed) {
    const bytes = Buffer.from(name, 'latin1');
    if (details || kind === 'link' || kind === 'unknown') unclear.push(bytes);
    else entries.push({ ...shown(path, bytes), isDirectory: kind === 'directory', isFile: kind === 'file' });
  }
  for (let from = 0; from < unclear.length; from += STAT_CONCURRENCY) {
    const batch = unclear.slice(from, from + STAT_CONCURRENCY);
    const found = await Promise.all(batch.map((name) => lookAt(path, name, details)));
    entries.push(...found.filter((entry) => entry !== null));
  }
  return entries;
}

function shown(directory: Buffer, name: Buffer): { name: string; path: string } {
  return { name: name.toString(), path: shownPath(childOf(directory, name)) };
}

/** Null if the entry vanished before it could be inspected. */
async function lookAt(directory: Buffer, name: Buffer, details: boolean): Promise<DirectoryEntry | null> {
  const path = childOf(directory, name);
  try {
    const own = await lstat(path);
    const target = own.isSymbolicLink() ? ((await statOrNull(path)) ?? own) : own;
    const kind = { ...shown(directory, name), isDirectory: target.isDirectory(), isFile: target.isFile() };
    if (!details) return kind;
    const isSymlink = own.isSymbolicLink();
    const { size, mode } = target;
    const about = { isSymlink, size, mode: mode & 0o7777, modifiedAtUs: modifiedAtUs(target) };
    return { ...kind, ...about, ...(isSymlink ? await linkAt(path, own) : {}) };
  } catch (error) {
    if (hasOsCode(error, 'ENOENT')) return null;
    throw error;
  }
}

async function statOrNull(path: Buffer): Promise<Stats | null> {
  return stat(path).catch(() => null);
}

function tooManyEntries(): ExecError {
  return new ExecError('ioFailed', `directory has more than ${MAX_DIRECTORY_ENTRIES} entries`);
}
