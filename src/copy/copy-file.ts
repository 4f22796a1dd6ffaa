import type { FileHandle, FileSystem } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import type { Budget } from './budget.js';
import type { Drafts } from './copy-draft.js';

/** What one message may carry. */
export const BLOCK_BYTES = 1024 * 1024;
/** What all files of one copy have on their way at a time: enough to fill a far line, little enough to fit in memory. */
export const BYTES_UNDER_WAY = 32 * BLOCK_BYTES;

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
}

/** What is copied. `mode` where its machine tells it. */
export interface Original extends FilePlace {
  readonly mode?: number | undefined;
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
  /** What the content of all its files may take up on its way. */
  readonly bytes: Budget;
  /** Sets the permissions of what is to hold something private, before it does. */
  readonly protect: (path: string, mode: number) => Promise<void>;
  /** Told how many bytes have arrived. */
  readonly onBytes: (bytes: number) => void;
}

/** Copies the content of a file. A small one goes in one piece, a large one block by block. */
export async function copyFile(
  from: Original & { readonly size: number },
  to: Destination,
  job: CopyJob,
): Promise<void> {
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
  await job.bytes.spend(from.size, async () => {
    const content = await withPathInError(from, from.files.readFile(from.path));
    job.signal.throwIfAborted();
    await withPathInError(to, to.files.writeFile(to.path, content, { atomic }));
    job.onBytes(content.length);
  });
}

async function copyInBlocks(
  from: FilePlace & { readonly size: number },
  to: FilePlace,
  job: CopyJob,
): Promise<void> {
  const opening = withPathInError(to, to.files.open(to.path, { mode: 'replace' }));
  // Whoever fails first is heard of; the other must not be left open.
  opening.catch(() => undefined);
  await using source = await withPathInError(from, from.files.open(from.path)).catch(async (error) => {
    await opening.then((destination) => destination.close()).catch(() => undefined);
    throw error;
  });
  await using destination = await opening;
  await copyBlocks({ from, source, to, destination }, job);
}

/** An empty file only those may read who may read the original. */
export async function makePrivate(place: FilePlace, mode: number, job: CopyJob): Promise<void> {
  await place.files.writeFile(place.path, new Uint8Array(0));
  await job.protect(place.path, mode);
}

/** Many blocks at a time, each from its place to the same place. */
async function copyBlocks(
  {
    from,
    source,
    to,
    destination,
  }: {
    from: FilePlace & { readonly size: number };
    source: FileHandle;
    to: FilePlace;
    destination: FileHandle;
  },
  job: CopyJob,
): Promise<void> {
  const progress = { next: 0, ended: false };
  const copyBlock = async (offset: number): Promise<void> => {
    if (progress.ended) return;
    job.signal.throwIfAborted();
    const { bytes, eof } = await withPathInError(from, source.read(offset, BLOCK_BYTES));
    if (eof) progress.ended = true;
    if (bytes.length > 0) await withPathInError(to, destination.write(offset, bytes));
    job.onBytes(bytes.length);
  };
  const copySome = async (limit: number): Promise<void> => {
    while (!progress.ended && progress.next < limit) {
      const offset = progress.next;
      progress.next += BLOCK_BYTES;
      await job.bytes.spend(BLOCK_BYTES, () => copyBlock(offset));
    }
  };
  const blocks = Math.min(BYTES_UNDER_WAY, from.size) / BLOCK_BYTES;
  const workers = Array.from({ length: Math.ceil(blocks) }, () => copySome(from.size));
  try {
    await Promise.all(workers);
    // Only the end of the file says that it has not grown.
    await copySome(Number.POSITIVE_INFINITY);
  } finally {
    progress.ended = true;
    // Nothing may be under way any more when the file is removed or renamed.
    await Promise.allSettled(workers);
  }
}
