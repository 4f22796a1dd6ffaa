import type { DirectoryEntry, FileMetadata } from '../contract/index.js';
import { FirstBlocks } from './copy-blocks.js';
import { isExecError } from '../protocol/errors.js';
import { BLOCK_BYTES } from './copy-job.js';
import { type FilePlace, withPathInError } from './file-place.js';
import { listing } from './listing.js';
import { FIRST_BYTES, type LineBudget } from './line-budget.js';

/** The source of a copy, and whether requests to its machine can be sent without waiting for answers. */
interface Source extends FilePlace {
  readonly placesFiles: boolean;
}

/**
 * Finds out what the source is. On a remote machine, it is opened as a file and listed as a directory at the same time: one
 * of the two fails, and the other has the first content ready by then.
 */
export class SourceLook {
  readonly firstBlocks: FirstBlocks | undefined;
  readonly listed: Promise<readonly DirectoryEntry[]> | undefined;
  readonly #metadata: Promise<FileMetadata>;

  constructor(from: Source, budget: LineBudget) {
    this.#metadata = look(from);
    this.#metadata.catch(() => undefined);
    if (!from.placesFiles || from.machine === undefined) return;
    this.listed = listing(from);
    this.listed.catch(() => undefined);
    this.firstBlocks = new FirstBlocks(from, { count: FIRST_BYTES / BLOCK_BYTES, budget });
  }

  async metadata(): Promise<FileMetadata> {
    return await this.#metadata;
  }

  async close(): Promise<void> {
    await this.firstBlocks?.close();
  }
}

async function look(from: Source): Promise<FileMetadata> {
  if (from.placesFiles) {
    try {
      return await withPathInError(from, from.files.getMetadata(from.path, { details: true }));
    } catch (error) {
      const link = isExecError(error, 'notFound') ? await danglingLink(from) : undefined;
      if (!link) throw error;
      return link;
    }
  }
  const [metadata, mode] = await Promise.all([
    withPathInError(from, from.files.getMetadata(from.path)),
    modeOf(from),
  ]);
  return mode === undefined ? metadata : { ...metadata, mode };
}

/** A dangling link has no metadata of its own, but the listing of its directory has the link. */
async function danglingLink(from: FilePlace): Promise<FileMetadata | undefined> {
  const link = (await entryAt(from))?.link;
  if (!link) return undefined;
  const modifiedAtMs = Math.floor(link.modifiedAtUs / 1000);
  const nothing = { isDirectory: false, isFile: false, size: 0, createdAtMs: 0 };
  return { ...nothing, isSymlink: true, modifiedAtMs, link };
}

/** Permissions come from listings only. Undefined if nothing exists there, or the machine does not report them. */
export async function modeOf(place: FilePlace): Promise<number | undefined> {
  return (await entryAt(place))?.mode;
}

async function entryAt({ files, path }: FilePlace): Promise<DirectoryEntry | undefined> {
  const directory = path.slice(0, Math.max(path.lastIndexOf('/'), 1));
  const siblings = await listing({ files, path: directory }).catch(() => []);
  return siblings.find((entry) => entry.path === path);
}
