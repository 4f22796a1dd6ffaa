import type { DirectoryEntry } from '../contract/index.js';
import type { CopyJob } from './copy-job.js';
import { type Destination, type Original, withPathInError } from './file-place.js';
import { listing, Names } from './listing.js';
import { isPrivate, permissionsOf } from './permissions.js';

/** A directory to copy, and its destination. */
export interface DirectoryPair {
  readonly from: Original & { readonly listed?: Promise<readonly DirectoryEntry[]> | undefined };
  readonly to: Destination;
}

/** The contents of a directory to copy. */
export interface Contents {
  readonly entries: readonly DirectoryEntry[];
  /** What exists at a path in the destination; undefined if nothing does. */
  readonly there: (path: string) => { readonly isSymlink?: boolean } | undefined;
  /** Resolves when the destination directory exists. */
  readonly directory: Promise<void>;
}

/** Creates the destination directory, and lists both directories. */
export async function enterDirectory(pair: DirectoryPair, job: CopyJob): Promise<Contents> {
  return job.placesFiles ? await enterAhead(pair, job) : await enterMade(pair, job);
}

async function enterMade({ from, to }: DirectoryPair, job: CopyJob): Promise<Contents> {
  const [entries, there] = await Promise.all([listing(from), make(to, job)]);
  // The owner must be able to fill it. It gets its own permissions at the end.
  if (isPrivate(from.mode)) await job.protect(to.path, from.mode | 0o700);
  return { entries, there, directory: Promise.resolve() };
}

/** The same without waiting for a new directory. Its contents are sent right after it, and the machine preserves the order. */
async function enterAhead({ from, to }: DirectoryPair, job: CopyJob): Promise<Contents> {
  // The owner must be able to fill it. It gets its own permissions at the end.
  const permissions = permissionsOf(from.mode === undefined ? undefined : from.mode | 0o700);
  const create = (): Promise<void> =>
    to.files.createDirectory(to.path, isPrivate(from.mode) || to.isFree ? permissions : {});
  const directory = withPathInError(to, makeAfter(to.directory, create, job));
  directory.catch(() => undefined);
  const entries = await (from.listed ?? listing(from));
  if (to.isFree) return { entries, there: () => undefined, directory };
  await directory;
  const names = new Names(await listing(to));
  return { entries, there: (path) => names.at(path), directory };
}

/** Creates a directory whose parent was requested before. A lost connection may reorder the two. */
async function makeAfter(
  parent: Promise<void> | undefined,
  create: () => Promise<void>,
  { persistence }: CopyJob,
): Promise<void> {
  await persistence.run(create);
  // It is created along with missing parents; the request for each parent then sets that parent's permissions.
  await parent;
}

/** Creates a directory. Returns a function that tells what exists at a path in it, or might. */
async function make(to: Destination, job: CopyJob): Promise<Contents['there']> {
  const made = withPathInError(to, to.files.createDirectory(to.path));
  // Sent without waiting: a server lists a directory after creating it. Without a listing, every path is checked.
  const list = !to.isFree && job.writesAtomically;
  const listed = list ? listing(to).catch(() => null) : null;
  await made;
  if (to.isFree) return () => undefined;
  const there = await listed;
  if (there === null) return () => ({});
  const names = new Names(there);
  return (path) => names.at(path);
}
