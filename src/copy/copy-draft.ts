import type { FileMetadata, MetadataOptions } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { type Destination, type FilePlace, withPathInError } from './file-place.js';
import { Persistence } from './persistence.js';

/** The name of an unfinished file, so that nobody mistakes it for the real one. */
const DRAFT_PREFIX = '.execwire-';
const DRAFT_SUFFIX = '.part';

/**
 * Writes files so that a copy that fails or is interrupted leaves no partial file: each is written under another name in
 * the same directory, then renamed. Other servers cannot rename; there a file is written in place, and removed if that
 * fails and it did not exist before.
 */
export class Drafts {
  readonly #renames: boolean;
  readonly #signal: AbortSignal;

  constructor(options: { renames: boolean; signal: AbortSignal }) {
    this.#renames = options.renames;
    this.#signal = options.signal;
  }

  /** Calls `fill` with the place to write to, then moves the file into place. */
  async write(to: Destination, fill: (place: FilePlace) => Promise<void>): Promise<void> {
    this.#signal.throwIfAborted();
    const existing = await existingAt(to, {});
    // A device or a directory is not replaced. The machine reports whether it can be written to.
    if (existing && !existing.isFile) return await fill(to);
    if (!this.#renames) return await writeInPlace(to, { fill, isNew: existing === undefined });
    // An existing link is followed: its target is replaced, not the link.
    const path = existing?.isSymlink ? await to.files.canonicalize(to.path) : to.path;
    const draft = { ...to, path: draftBeside(path) };
    try {
      await fill(draft);
      this.#signal.throwIfAborted();
      await withPathInError(to, to.files.rename(draft.path, path));
    } catch (error) {
      await discard(draft);
      throw error;
    }
  }
}

/** The metadata of a place; undefined if nothing exists there. */
export async function metadataOf(
  place: FilePlace,
  options: MetadataOptions = {},
): Promise<FileMetadata | undefined> {
  try {
    return await withPathInError(place, place.files.getMetadata(place.path, options));
  } catch (error) {
    if (isExecError(error, 'notFound')) return undefined;
    throw error;
  }
}

/** The existing entry at a destination; undefined if there is none, or only a link to be replaced. */
export async function existingAt(
  to: Destination,
  options: MetadataOptions = { details: true },
): Promise<FileMetadata | undefined> {
  if (to.isFree) return undefined;
  const existing = to.existing ?? (await metadataOf(to, options));
  return to.isListed && existing?.isSymlink ? undefined : existing;
}

async function writeInPlace(
  to: FilePlace,
  { fill, isNew }: { fill: (place: FilePlace) => Promise<void>; isNew: boolean },
): Promise<void> {
  try {
    await fill(to);
  } catch (error) {
    // A file that existed before is not ours to remove.
    if (isNew) await discard(to);
    throw error;
  }
}

/** Removes an unfinished file, across lost connections. */
export async function discard({ files, path }: FilePlace, persistence = new Persistence()): Promise<void> {
  const removed = persistence.run(() => files.remove(path, { recursive: false }));
  // The caller reports why the copy failed, which matters more than a failure to clean up.
  await removed.catch(() => undefined);
}

/** A temporary path in the same directory. */
export function draftBeside(path: string): string {
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  return `${directory}${DRAFT_PREFIX}${crypto.randomUUID()}${DRAFT_SUFFIX}`;
}
