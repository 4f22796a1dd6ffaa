import type { Dirent } from 'node:fs';
import { entriesOf } from './directories.js';
import { kernelCalls, type KernelCalls } from '../../kernel/index.js';
import type { FastPath } from '../cached/fast-path.js';
import { openCachedDirectory } from '../cached/open-directory.js';
import { holdResolved } from './held-directory.js';
import { osError } from './os-error.js';
import { type Place, placeOfDescriptor } from './place.js';

/** The kind of an entry as the listing reports it. Some file systems do not. */
export type EntryKind = 'directory' | 'file' | 'link' | 'special' | 'unknown';

export interface ListedEntry {
  /** One character per byte (latin1), since names need not be UTF-8 and strings are cheaper than buffers. */
  readonly name: string;
  readonly kind: EntryKind;
}

/** A few thousand entries per trip to the thread pool. */
const BATCH_BYTES = 128 * 1024;

/** The kernel's entry types (`DT_…`). */
const KINDS: Readonly<Record<number, EntryKind>> = {
  1: 'special',
  2: 'special',
  4: 'directory',
  6: 'special',
  8: 'file',
  10: 'link',
  12: 'special',
};

interface ListOptions extends FastPath {
  /** Where the directory must really be. If a link leads elsewhere, it is not listed. */
  readonly place?: Place | undefined;
}

/** At most `limit` entries of a directory, in no particular order. */
export async function listDirectory(
  path: Buffer,
  limit: number,
  options: ListOptions,
): Promise<ListedEntry[]> {
  const listed = options.fastPath === false ? null : await listFast(path, limit, options.place);
  return listed ?? (await listPortably(path, limit, options.place));
}

/** Null if the portable path has to do it, or report the error. */
async function listFast(
  path: Buffer,
  limit: number,
  place: Place | undefined,
): Promise<ListedEntry[] | null> {
  const calls = kernelCalls();
  const directory = calls === null ? null : openCachedDirectory(path);
  if (calls === null || directory === null) return null;
  try {
    if (place !== undefined && placeOfDescriptor(directory) !== place) throw osError('ENOTDIR');
    return await readAll(directory, limit, calls);
  } finally {
    calls.close(directory);
  }
}

async function readAll(directory: number, limit: number, calls: KernelCalls): Promise<ListedEntry[] | null> {
  const entries: ListedEntry[] = [];
  const batch = Buffer.allocUnsafeSlow(BATCH_BYTES);
  while (entries.length < limit) {
    const length = await calls.readEntries(directory, batch);
    if (length < 0) return null;
    if (length === 0) return entries;
    parseEntries(batch, length, entries);
  }
  return entries.slice(0, limit);
}

/**
 * Each is a `struct linux_dirent64`: inode, offset, its own length at 16, type at 18, the NUL-terminated name from 19
 * on.
 */
function parseEntries(batch: Buffer, length: number, into: ListedEntry[]): void {
  for (let at = 0; at < length; at += batch.readUInt16LE(at + 16)) {
    const name = batch.toString('latin1', at + 19, batch.indexOf(0, at + 19));
    if (name !== '.' && name !== '..') into.push({ name, kind: KINDS[batch[at + 18] ?? 0] ?? 'unknown' });
  }
}

async function listPortably(path: Buffer, limit: number, place: Place | undefined): Promise<ListedEntry[]> {
  if (place === undefined) return await listAt(path, limit);
  await using directory = await holdResolved(path);
  if (placeOfDescriptor(directory.fd) !== place) throw osError('ENOTDIR');
  return await listAt(directory.at(), limit);
}

async function listAt(path: Buffer, limit: number): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  for await (const entry of entriesOf(path)) {
    if (entries.length === limit) break;
    entries.push({ name: entry.name.toString('latin1'), kind: kindOf(entry) });
  }
  return entries;
}

function kindOf(entry: Dirent<Buffer>): EntryKind {
  if (entry.isDirectory()) return 'directory';
  if (entry.isFile()) return 'file';
  if (entry.isSymbolicLink()) return 'link';
  const isSpecial = entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice();
  return isSpecial ? 'special' : 'unknown';
}
