import type { FileHandle, PermissionOptions, TimeOptions } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { discard, draftBeside, existingAt } from './copy-draft.js';
import {
  type CopyJob,
  type Destination,
  type Original,
  PERMISSION_BITS,
  withPathInError,
} from './copy-file.js';

/** What is put somewhere, as part of which copy. */
interface Placement {
  readonly from: Pick<Original, 'mode' | 'modifiedAtUs'>;
  readonly job: CopyJob;
}

/** What fills a file resolves once everything is on its way; `arrived` once it is there. */
export type Fill = (handle: FileHandle) => Promise<{ readonly arrived: Promise<unknown> }>;

/**
 * Puts a whole small file where nothing is, in one request. False when something is there after all, or was put there by a
 * request whose answer got lost.
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

/** Puts a whole small file where something may be, in one flight: written beside it, and renamed. */
export async function placeWhole(
  to: Destination,
  content: Uint8Array,
  { from, job }: Placement,
): Promise<void> {
  const { existing, files } = to;
  // Whoever made a link wants what it leads to written.
  const path = existing?.isSymlink ? await files.canonicalize(to.path) : to.path;
  const how = { exclusive: true, ...permissionsOf(from.mode ?? existing?.mode), ...timeOf(from, job) };
  const put = async (): Promise<void> => {
    const draft = { ...to, path: draftBeside(path) };
    const written = files.writeFile(draft.path, content, how);
    try {
      // A far machine keeps the order of the two; without the one the other fails.
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
 * Writes a file under another name beside its place, and puts it there when it is whole. It is opened, filled and renamed in
 * one flight, and closed to others before there is anything in it.
 */
export async function placeBlocks(
  to: Destination,
  { from, fill, job }: Placement & { readonly fill: Fill },
): Promise<void> {
  job.signal.throwIfAborted();
  const existing = await existingAt(to);
  // Whoever made a link wants what it leads to written.
  const path = existing?.isSymlink ? await to.files.canonicalize(to.path) : to.path;
  const inPlace = existing !== undefined && !existing.isFile;
  const permissions = permissionsOf(inPlace ? undefined : (from.mode ?? existing?.mode));
  const put = async (): Promise<void> => {
    // Another name each time: what an earlier attempt left under way must not meet this one.
    const written = { ...to, path: inPlace ? path : draftBeside(path) };
    const opening = to.files.open(written.path, { mode: 'replace', ahead: true, ...permissions });
    const handle = await withPathInError(to, opening);
    let arrived: Promise<unknown> = Promise.resolve();
    try {
      ({ arrived } = await fill(handle));
      job.signal.throwIfAborted();
      // A device or a directory is not replaced; the machine says what it thinks of writing to it.
      const closed = inPlace ? arrived.then(() => handle.close()) : handle.closeAs(path, timeOf(from, job));
      to.onSent?.();
      await Promise.all([arrived, withPathInError(to, closed)]);
    } catch (error) {
      // Nothing may be under way any more when the file is removed.
      await Promise.allSettled([arrived, handle.close()]);
      if (!inPlace) await discard(written, job.persistence);
      throw error;
    }
  };
  await inOrder(to, put, job);
}

/** Bits for whoever makes a file. Set-id and sticky bits are never handed on to another machine. */
export function permissionsOf(mode: number | undefined): PermissionOptions {
  return mode === undefined ? {} : { permissions: mode & PERMISSION_BITS };
}

/** How old a copy is, where its machine can be told. */
export function timeOf({ modifiedAtUs }: Pick<Original, 'modifiedAtUs'>, job: CopyJob): TimeOptions {
  return !job.keeps || modifiedAtUs === undefined ? {} : { modifiedAtUs };
}

/** Does something in a directory that was asked for before, and again if a lost connection mixed up the two. */
export async function inOrder(to: Destination, work: () => Promise<void>, job: CopyJob): Promise<void> {
  // This machine does several things at a time, in no order.
  if (to.machine === undefined) await to.directory;
  try {
    await job.persistence.run(work);
  } catch (error) {
    if (!isExecError(error, 'notFound') || !to.directory) throw error;
    // Why there is no directory says more than that there is none.
    await to.directory;
    if (!job.persistence.wasCut) throw error;
    await job.persistence.run(work);
  }
}
