import type { DirectoryEntry } from '../contract/index.js';
import { type CopyJob, type Destination, isPrivate, type Original, withPathInError } from './copy-file.js';
import { listing, Names } from './listing.js';
import { permissionsOf } from './place-file.js';

/** One directory on its way. */
export interface DirectoryPair {
  readonly from: Original & { readonly listed?: Promise<readonly DirectoryEntry[]> | undefined };
  readonly to: Destination;
}

/** What is to be copied of one directory. */
export interface Contents {
  readonly entries: readonly DirectoryEntry[];
  /** What is at a place in the destination; undefined when nothing is. */
  readonly there: (path: string) => { readonly isSymlink?: boolean } | undefined;
  /** Pending while the destination is being made. */
  readonly directory: Promise<void>;
}

/** Makes the directory, and finds out what is in it on both sides. */
export async function enterDirectory(pair: DirectoryPair, job: CopyJob): Promise<Contents> {
  return job.places ? await enterAhead(pair, job) : await enterMade(pair, job);
}

async function enterMade({ from, to }: DirectoryPair, job: CopyJob): Promise<Contents> {
  const [entries, there] = await Promise.all([listing(from), make(to, job)]);
  // With what the owner needs to fill it; what it really had it gets at the end.
  if (isPrivate(from.mode)) await job.protect(to.path, from.mode | 0o700);
  return { entries, there, directory: Promise.resolve() };
}

/** The same without waiting for a new directory: what goes into it is sent right behind, and done after it is made. */
async function enterAhead({ from, to }: DirectoryPair, job: CopyJob): Promise<Contents> {
  // With what the owner needs to fill it; what it really had it gets at the end.
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

/** Makes a directory in one that was asked for before. A lost connection may mix up the two. */
async function makeAfter(
  parent: Promise<void> | undefined,
  create: () => Promise<void>,
  { persistence }: CopyJob,
): Promise<void> {
  await persistence.run(create);
  // Made with its parents, which then get their permissions from whoever asked for them.
  await parent;
}

/** Makes a directory. Returns what is at a path in it, or might be. */
async function make(to: Destination, job: CopyJob): Promise<Contents['there']> {
  const made = withPathInError(to, to.files.createDirectory(to.path));
  // Sent along: a server lists a directory after it has made it. Without a list every place is looked at.
  const list = !to.isFree && job.atOnce;
  const listed = list ? listing(to).catch(() => null) : null;
  await made;
  if (to.isFree) return () => undefined;
  const there = await listed;
  if (there === null) return () => ({});
  const names = new Names(there);
  return (path) => names.at(path);
}
