import type { Dirent, Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import type { DirectoryEntry } from '../../contract/index.js';
import { ExecError } from '../../protocol/index.js';
import { entriesOf } from './directories.js';
import { childOf, shownPath } from './host-path.js';
import { MAX_DIRECTORY_ENTRIES, STAT_CONCURRENCY } from './limits.js';
import { hasOsCode } from './os-error.js';

export async function readDirectory(path: Buffer, options: { details?: boolean }): Promise<DirectoryEntry[]> {
  const found: Dirent<Buffer>[] = [];
  for await (const entry of entriesOf(path)) {
    if (found.length === MAX_DIRECTORY_ENTRIES) throw tooManyEntries();
    found.push(entry);
  }
  const entries: DirectoryEntry[] = [];
  for (let from = 0; from < found.length; from += STAT_CONCURRENCY) {
    const batch = found.slice(from, from + STAT_CONCURRENCY);
    for (const entry of await Promise.all(
      batch.map((item) => describe(path, item, options.details === true)),
    ))
      if (entry !== null) entries.push(entry);
  }
  return entries;
}

/** Null when the entry vanished before it could be looked at. */
async function describe(
  directory: Buffer,
  entry: Dirent<Buffer>,
  details: boolean,
): Promise<DirectoryEntry | null> {
  const path = childOf(directory, entry.name);
  const shown = { name: entry.name.toString(), path: shownPath(path) };
  if (!details && (entry.isDirectory() || entry.isFile() || isSpecial(entry)))
    return { ...shown, isDirectory: entry.isDirectory(), isFile: entry.isFile() };
  try {
    const own = await lstat(path);
    const target = own.isSymbolicLink() ? ((await statOrNull(path)) ?? own) : own;
    const kind = { ...shown, isDirectory: target.isDirectory(), isFile: target.isFile() };
    if (!details) return kind;
    return { ...kind, isSymlink: own.isSymbolicLink(), size: target.size, mode: target.mode & 0o7777 };
  } catch (error) {
    if (hasOsCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Known to be neither link, directory nor file. Some file systems do not say; then nothing is known. */
function isSpecial(entry: Dirent<Buffer>): boolean {
  return entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
}

async function statOrNull(path: Buffer): Promise<Stats | null> {
  return stat(path).catch(() => null);
}

function tooManyEntries(): ExecError {
  return new ExecError('ioFailed', `directory has more than ${MAX_DIRECTORY_ENTRIES} entries`);
}
