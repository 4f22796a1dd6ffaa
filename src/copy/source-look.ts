import type { DirectoryEntry, FileMetadata } from '../contract/index.js';
import { FirstBlocks } from './copy-blocks.js';
import { isExecError } from '../protocol/errors.js';
import { BLOCK_BYTES, type FilePlace, withPathInError } from './copy-file.js';
import { listing } from './listing.js';
import { FIRST_BYTES, type LineBudget } from './line-budget.js';

/** What is to be copied, and whether its machine has everything about it asked for at once. */
interface Source extends FilePlace {
  readonly places: boolean;
}

/**
 * A first look at what is to be copied. On a far machine it is taken for a file and for a directory at the same time: what it
 * is not fails, and what it is has come by the time that is known.
 */
export class SourceLook {
  readonly firstBlocks: FirstBlocks | undefined;
  readonly listed: Promise<readonly DirectoryEntry[]> | undefined;
  readonly #metadata: Promise<FileMetadata>;

  constructor(from: Source, budget: LineBudget) {
    this.#metadata = look(from);
    this.#metadata.catch(() => undefined);
    if (!from.places || from.machine === undefined) return;
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
  if (from.places) {
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

/** A link that leads nowhere is in the list of its directory, but cannot be described. */
async function danglingLink(from: FilePlace): Promise<FileMetadata | undefined> {
  const link = (await entryAt(from))?.link;
  if (!link) return undefined;
  const modifiedAtMs = Math.floor(link.modifiedAtUs / 1000);
  const nothing = { isDirectory: false, isFile: false, size: 0, createdAtMs: 0 };
  return { ...nothing, isSymlink: true, modifiedAtMs, link };
}

/** Only listings report permissions. Undefined where nothing is, or the machine does not report them. */
export async function modeOf(place: FilePlace): Promise<number | undefined> {
  return (await entryAt(place))?.mode;
}

async function entryAt({ files, path }: FilePlace): Promise<DirectoryEntry | undefined> {
  const directory = path.slice(0, Math.max(path.lastIndexOf('/'), 1));
  const siblings = await listing({ files, path: directory }).catch(() => []);
  return siblings.find((entry) => entry.path === path);
}
