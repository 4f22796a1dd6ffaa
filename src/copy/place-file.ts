import type { FileHandle, TimeOptions } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { discard, draftBeside, existingAt } from './copy-draft.js';
import type { CopyJob } from './copy-job.js';
import { type Destination, type Original, withPathInError } from './file-place.js';
import { permissionsOf } from './permissions.js';

/** The source of a file, and the copy it belongs to. */
interface Placement {
  readonly from: Pick<Original, 'mode' | 'modifiedAtUs'>;
  readonly job: CopyJob;
}

/** Writes the content of a file. Resolves when everything has been sent; `arrived` resolves when it has been written. */
export type Fill = (handle: FileHandle) => Promise<{ readonly arrived: Promise<unknown> }>;

/**
 * Creates a small file in one request. Returns false if something exists at its path, perhaps from a request whose answer
 * was lost.
 */
export async function placeNew(
  to: Destination,
  content: Uint8Array,
  { from, job }: Placement,
): Promise<boolean> {
  const write = async (): Promise<void> => {
    const options = { exclusive: true, ...permissionsOf(from.mode), ...timeOf(from, job) };
    const written = to.files.writeFile(to.path, content, options);
    to.onSent?.();
    await written;
  };
  try {
    await withPathInError(to, inOrder(to, write, job));
    return true;
  } catch (error) {
    if (isExecError(error) && error.data.osCode === 'EEXIST') return false;
    throw error;
  }
}

/** Creates or replaces a small file without waiting for answers: it is written under a temporary name and renamed. */
export async function placeWhole(
  to: Destination,
  content: Uint8Array,
  { from, job }: Placement,
): Promise<void> {
  const { existing, files } = to;
  // An existing link is followed: its target is replaced, not the link.
  const path = existing?.isSymlink ? await files.canonicalize(to.path) : to.path;
  const how = { exclusive: true, ...permissionsOf(from.mode ?? existing?.mode), ...timeOf(from, job) };
  const put = async (): Promise<void> => {
    const draft = { ...to, path: draftBeside(path) };
    const written = files.writeFile(draft.path, content, how);
    try {
      // A remote machine preserves the order, and the rename fails if the write did.
      if (to.machine === undefined) await written;
      const renamed = files.rename(draft.path, path);
      renamed.catch(() => undefined);
      to.onSent?.();
      await written;
      await renamed;
    } catch (error) {
      await discard(draft, job.persistence);
      throw error;
    }
  };
  await withPathInError(to, inOrder(to, put, job));
}

/**
 * Writes a file under a temporary name in the same directory and renames it when complete. It is opened, filled and renamed
 * without waiting for answers, and gets its permissions before any content.
 */
export async function placeBlocks(
  to: Destination,
  { from, fill, job }: Placement & { readonly fill: Fill },
): Promise<void> {
  job.signal.throwIfAborted();
  const existing = await existingAt(to);
  // An existing link is followed: its target is replaced, not the link.
  const path = existing?.isSymlink ? await to.files.canonicalize(to.path) : to.path;
  const inPlace = existing !== undefined && !existing.isFile;
  const permissions = permissionsOf(inPlace ? undefined : (from.mode ?? existing?.mode));
  const put = async (): Promise<void> => {
    // A new name for each attempt, because writes of an earlier one may still be in flight.
    const written = { ...to, path: inPlace ? path : draftBeside(path) };
    const opening = to.files.open(written.path, { mode: 'replace', ahead: true, ...permissions });
    const handle = await withPathInError(to, opening);
    let arrived: Promise<unknown> = Promise.resolve();
    try {
      ({ arrived } = await fill(handle));
      job.signal.throwIfAborted();
      // A device or a directory is not replaced. The machine reports whether it can be written to.
      const closed = inPlace ? arrived.then(() => handle.close()) : handle.closeAs(path, timeOf(from, job));
      to.onSent?.();
      await Promise.all([arrived, withPathInError(to, closed)]);
    } catch (error) {
      // The file may be removed only when no write is in flight any more.
      await Promise.allSettled([arrived, handle.close()]);
      if (!inPlace) await discard(written, job.persistence);
      throw error;
    }
  };
  await inOrder(to, put, job);
}

/** The modification time for a copy, if its machine can store it. */
export function timeOf({ modifiedAtUs }: Pick<Original, 'modifiedAtUs'>, job: CopyJob): TimeOptions {
  return !job.keepsLinksAndTimes || modifiedAtUs === undefined ? {} : { modifiedAtUs };
}

/** Sends a request that needs its directory, and repeats it if a lost connection reordered the two. */
export async function inOrder(to: Destination, work: () => Promise<void>, job: CopyJob): Promise<void> {
  // Requests to this machine run concurrently, in no particular order.
  if (to.machine === undefined) await to.directory;
  try {
    await job.persistence.run(work);
  } catch (error) {
    if (!isExecError(error, 'notFound') || !to.directory) throw error;
    // The reason why the directory is missing says more than "not found".
    await to.directory;
    if (!job.persistence.wasCut) throw error;
    await job.persistence.run(work);
  }
}
