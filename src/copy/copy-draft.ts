import type { FileMetadata, MetadataOptions } from '../contract/index.js';
import { isExecError } from '../protocol/errors.js';
import { type Destination, type FilePlace, withPathInError } from './copy-file.js';
import { Persistence } from './persistence.js';

/** What is being written, until it is whole: nobody takes it for the real thing. */
const DRAFT_PREFIX = '.execwire-';
const DRAFT_SUFFIX = '.part';

/**
 * Writes files so that a copy that fails or is interrupted leaves none of them half there: each is written under
 * another name beside its place and renamed at the end. Servers of others cannot rename; there a file is written in
 * its place, and removed if that fails and it was not there before.
 */
export class Drafts {
  readonly #renames: boolean;
  readonly #signal: AbortSignal;

  constructor(options: { renames: boolean; signal: AbortSignal }) {
    this.#renames = options.renames;
    this.#signal = options.signal;
  }

  /** Calls `fill` with where to write, and puts what it wrote in its place. */
  async write(to: Destination, fill: (place: FilePlace) => Promise<void>): Promise<void> {
    this.#signal.throwIfAborted();
    const existing = await existingAt(to, {});
    // A device or a directory is not replaced; the machine says what it thinks of writing to it.
    if (existing && !existing.isFile) return await fill(to);
    if (!this.#renames) return await writeInPlace(to, { fill, isNew: existing === undefined });
    // Whoever made a link wants what it leads to written.
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

/** What is at a place; undefined when nothing is. */
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

/** What is at a place where something goes; undefined when nothing is, or only a link that gives way. */
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
    // Whether an old file was touched is not known, and it is not ours to remove.
    if (isNew) await discard(to);
    throw error;
  }
}

/** Removes what was not finished, also if a connection is lost over it. */
export async function discard({ files, path }: FilePlace, persistence = new Persistence()): Promise<void> {
  const removed = persistence.run(() => files.remove(path, { recursive: false }));
  // Why the copy failed is what matters; a machine out of reach cannot be tidied up.
  await removed.catch(() => undefined);
}

/** A name for what is to be at a path, in the same directory. */
export function draftBeside(path: string): string {
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  return `${directory}${DRAFT_PREFIX}${crypto.randomUUID()}${DRAFT_SUFFIX}`;
}
