import type { FileMetadata, FileSystem } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import type { BlockPool } from './block-pool.js';
import { type FirstBlocks, fillFrom } from './copy-blocks.js';
import { type Drafts, existingAt } from './copy-draft.js';
import type { LineBudget } from './line-budget.js';
import type { Persistence } from './persistence.js';
import { placeBlocks, placeNew, placeWhole } from './place-file.js';

/** What one message may carry. */
export const BLOCK_BYTES = 1024 * 1024;
/** A file of this size may have grown by as much without being read again: many at a time still fit in memory. */
const SMALL_BYTES = BLOCK_BYTES / 4;
/** What may be read, written and executed by whom. Set-id and sticky bits are never handed on to another machine. */
export const PERMISSION_BITS = 0o777;

/** A file on some machine. */
export interface FilePlace {
  readonly files: FileSystem;
  readonly path: string;
  /** The id of the machine; absent for this one. */
  readonly machine?: string;
}

/** Waits for something done with a file, and names the file when that fails: the system itself does not. */
export async function withPathInError<Value>(
  { machine, path }: FilePlace,
  work: Promise<Value>,
): Promise<Value> {
  return await work.catch((cause: unknown) => {
    if (!isExecError(cause)) throw cause;
    const place = machine === undefined ? path : `${machine}:${path}`;
    throw new ExecError(cause.code, `${place}: ${cause.message}`, { data: cause.data, cause });
  });
}

/** Where a file goes. */
export interface Destination extends FilePlace {
  /** True when nothing has this name yet, as far as anybody has looked. */
  readonly isFree?: boolean;
  /** What is there, if that is known. */
  readonly existing?: FileMetadata | undefined;
  /** Its name comes from the other machine: a link that has it gives way, and is never followed. */
  readonly isListed?: boolean;
  /** Told when the last thing the file needs was asked for: whatever is asked for from then on is done later. */
  readonly onSent?: () => void;
  /** Rejects if the directory it goes to could not be made; pending while that is under way. */
  readonly directory?: Promise<void>;
}

/** What is copied. `mode` and `modifiedAtUs` where its machine tells them. */
export interface Original extends FilePlace {
  readonly mode?: number | undefined;
  readonly modifiedAtUs?: number | undefined;
  /** The beginning of a file, where it was asked for before anything was known about it. */
  readonly firstBlocks?: FirstBlocks | undefined;
}

/** Everybody may read it. */
const PUBLIC_BITS = 0o044;

/** What not everybody may read. */
export function isPrivate(mode: number | undefined): mode is number {
  return mode !== undefined && (mode & PUBLIC_BITS) !== PUBLIC_BITS;
}

/** What all parts of one copy share. */
export interface CopyJob {
  readonly drafts: Drafts;
  /** Aborted by whoever wants the copy to end before it is done. */
  readonly signal: AbortSignal;
  /** Whether files can be written block by block at the destination. */
  readonly blocks: boolean;
  /** Whether the destination makes a small file whole in one request. Only then is a request there worth saving. */
  readonly atOnce: boolean;
  /** Whether the destination puts files in their place in one flight, with their permissions. */
  readonly places: boolean;
  /** Whether the destination takes modification times and links. */
  readonly keeps: boolean;
  /** Whether what links lead to is copied instead of the links. */
  readonly followLinks: boolean;
  /** Whether files and links that are there already are left alone. */
  readonly keepExisting?: boolean;
  /** What the content of all its files may take up on its way. */
  readonly bytes: LineBudget;
  /** Where content is read to. */
  readonly blockPool: BlockPool;
  readonly persistence: Persistence;
  /** Sets the permissions of what is to hold something private, before it does. */
  readonly protect: (path: string, mode: number) => Promise<void>;
  /** Told of a link that is followed, because one of the machines has no way to tell or to make links. */
  readonly onFollowed: () => void;
  /** Told how many bytes have arrived. */
  readonly onBytes: (bytes: number) => void;
}

/** Copies the content of a file. A small one goes in one piece, a large one block by block. */
export async function copyFile(
  from: Original & { readonly size: number },
  to: Destination,
  job: CopyJob,
): Promise<void> {
  if (job.places) return await placeFile(from, to, job);
  const isWhole = from.size <= BLOCK_BYTES || !job.blocks;
  // What is there may be a link or a device, and what is private must be so before there is anything in it.
  if (isWhole && job.atOnce && to.isFree && !isPrivate(from.mode)) {
    job.signal.throwIfAborted();
    return await copyWhole(from, to, { job, atomic: true });
  }
  await job.drafts.write(to, async (place) => {
    if (isPrivate(from.mode)) await withPathInError(to, makePrivate(place, from.mode, job));
    const into = { ...to, path: place.path };
    if (isWhole) await copyWhole(from, into, { job, atomic: false });
    else await copyInBlocks(from, into, job);
  });
}

async function copyWhole(
  from: FilePlace & { readonly size: number },
  to: FilePlace,
  { job, atomic }: { job: CopyJob; atomic: boolean },
): Promise<void> {
  await withContent(from, job, async (content) => {
    await withPathInError(to, to.files.writeFile(to.path, content, { atomic }));
    job.onBytes(content.length);
  });
}

/**
 * Reads a small file and hands it on. One that is larger than its listing said waits for room and is read again: sizes are
 * what the machine says, and it may lie.
 */
async function withContent(
  from: Original & { readonly size: number },
  job: CopyJob,
  use: (content: Uint8Array) => Promise<void>,
): Promise<void> {
  const found = await job.bytes.spend(from.size, async () => {
    job.signal.throwIfAborted();
    const content = await withPathInError(from, from.files.readFile(from.path));
    job.signal.throwIfAborted();
    if (content.length > Math.max(from.size, SMALL_BYTES)) return content.length;
    await use(content);
    return null;
  });
  if (found !== null) await withContent({ ...from, size: found }, job, use);
}

/** Everything a file needs in one flight: where nothing is, a small one in one request. */
async function placeFile(
  from: Original & { readonly size: number },
  to: Destination,
  job: CopyJob,
): Promise<void> {
  if (from.size > BLOCK_BYTES || from.firstBlocks)
    return await placeBlocks(to, { from, fill: fillFrom(from, to, job), job });
  await withContent(from, job, async (content) => {
    if (to.isFree && (await placeNew(to, content, { from, job }))) return job.onBytes(content.length);
    // Whatever was to come after it may have overtaken it.
    if (to.isFree) job.persistence.disturb();
    // A device takes what it gets, but cannot be opened to be written in blocks.
    const existing = await existingAt({ ...to, isFree: false });
    if (existing && !existing.isFile) await withPathInError(to, to.files.writeFile(to.path, content));
    else await placeWhole({ ...to, existing }, content, { from, job });
    job.onBytes(content.length);
  });
}

async function copyInBlocks(
  from: Original & { readonly size: number },
  to: FilePlace,
  job: CopyJob,
): Promise<void> {
  await using destination = await withPathInError(to, to.files.open(to.path, { mode: 'replace' }));
  await (await fillFrom(from, to, job)(destination)).arrived;
}

/** An empty file only those may read who may read the original. */
export async function makePrivate(place: FilePlace, mode: number, job: CopyJob): Promise<void> {
  await place.files.writeFile(place.path, new Uint8Array(0));
  await job.protect(place.path, mode);
}
