import type { FileHandle, FileSystem } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import type { Drafts } from './copy-draft.js';

/** What one message may carry. */
export const BLOCK_BYTES = 1024 * 1024;
/** Blocks of one file on their way at a time: enough to hide the round trip, few enough to fit in memory. */
const BLOCKS_AHEAD = 4;

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
  /** Sets the permissions of what is to hold something private, before it does. */
  readonly protect: (path: string, mode: number) => Promise<void>;
  /** Told how many bytes have arrived. */
  readonly onBytes: (bytes: number) => void;
}

/** Copies the content of a file. A small one goes in one piece, a large one block by block. */
export async function copyFile(
  from: Original & { readonly size: number },
  to: FilePlace,
  job: CopyJob,
): Promise<void> {
  await job.drafts.write(to, async (place) => {
    if (isPrivate(from.mode)) await withPathInError(to, makePrivate(place, from.mode, job));
    if (from.size <= BLOCK_BYTES || !job.blocks) {
      const content = await withPathInError(from, from.files.readFile(from.path));
      job.signal.throwIfAborted();
      await withPathInError(to, place.files.writeFile(place.path, content));
      job.onBytes(content.length);
      return;
    }
    await using source = await withPathInError(from, from.files.open(from.path));
    await using destination = await withPathInError(to, place.files.open(place.path, { mode: 'replace' }));
    await copyBlocks({ from, source, to, destination }, job);
  });
}

/** An empty file only those may read who may read the original. */
export async function makePrivate(place: FilePlace, mode: number, job: CopyJob): Promise<void> {
  await place.files.writeFile(place.path, new Uint8Array(0));
  await job.protect(place.path, mode);
}

/** Several blocks at a time, each from its place to the same place. */
async function copyBlocks(
  {
    from,
    source,
    to,
    destination,
  }: { from: FilePlace; source: FileHandle; to: FilePlace; destination: FileHandle },
  job: CopyJob,
): Promise<void> {
  let next = 0;
  let ended = false;
  const copySome = async (): Promise<void> => {
    while (!ended) {
      job.signal.throwIfAborted();
      const offset = next;
      next += BLOCK_BYTES;
      const { bytes, eof } = await withPathInError(from, source.read(offset, BLOCK_BYTES));
      if (eof) ended = true;
      if (bytes.length > 0) await withPathInError(to, destination.write(offset, bytes));
      job.onBytes(bytes.length);
    }
  };
  const workers = Array.from({ length: BLOCKS_AHEAD }, copySome);
  try {
    await Promise.all(workers);
  } finally {
    ended = true;
    // Nothing may be under way any more when the file is removed or renamed.
    await Promise.allSettled(workers);
  }
}
