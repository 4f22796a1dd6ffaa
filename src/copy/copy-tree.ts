import type { DirectoryEntry, LinkDetails } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { Budget } from './budget.js';
import {
  BLOCK_BYTES,
  type CopyJob,
  copyFile,
  type Destination,
  type FilePlace,
  isPrivate,
  type Original,
  withPathInError,
} from './copy-file.js';
import { copyLink } from './copy-link.js';
import { Endings, isOpen } from './endings.js';
import { Failures } from './failures.js';
import { childPath, listing, mayMeet, Names, requireDistinct } from './listing.js';
import { hasNothing } from './open-place.js';
import { permissionsOf } from './place-file.js';

/** Directories looked at a time. */
const DIRECTORIES_AT_A_TIME = 16;
/** Small files copied at a time: each costs a round trip or more, and those can be shared. */
const FILES_AT_A_TIME = 128;
/** The same where a file is one request, which takes up nothing at the other end. */
const PLACED_AT_A_TIME = 512;
/** What is open for long, or needs a process to make it private, counts as this many files. */
const DEMANDING = 8;

/** What arrived at the destination. `mode` where the source tells it. */
export interface Arrival {
  readonly path: string;
  readonly mode: number | undefined;
}

/** A copy of a whole tree, and who is told of it. */
export interface TreeCopyJob extends CopyJob {
  readonly onFile: (file: Arrival) => void;
  /** Told of each directory below the first, before what is in it. */
  readonly onDirectory: (directory: Arrival) => void;
  readonly onSkipped: (path: string, why: string) => void;
  /** Told why something could not be copied; the rest still is. */
  readonly onFailed: (error: Error) => void;
  /** Told where each file and link has arrived. */
  readonly onCopied?: (path: string) => void;
}

/** Copies a directory with everything below it into one that is made if need be. `listed` where somebody has looked already. */
export async function copyTree(
  from: Original & { readonly listed?: Promise<readonly DirectoryEntry[]> | undefined },
  to: Destination,
  job: TreeCopyJob,
): Promise<void> {
  await new TreeCopy(job).copy(from, to);
}

/** One directory on its way. */
export interface DirectoryPair {
  readonly from: Original & { readonly listed?: Promise<readonly DirectoryEntry[]> | undefined };
  readonly to: Destination;
}

/** What is to be copied of one directory. */
interface Contents {
  readonly entries: readonly DirectoryEntry[];
  /** What is at a place in the destination; undefined when nothing is. */
  readonly there: (path: string) => { readonly isSymlink?: boolean } | undefined;
  /** Pending while the destination is being made. */
  readonly directory: Promise<void>;
}

/** Something of a directory that is being copied. */
interface Part {
  /** All that it needs was asked for. */
  readonly sent: Promise<void>;
  /** It is there, or nothing more happens to it. */
  readonly done: Promise<void>;
}

/** Many directories and files at a time, so that round trips are shared. After a failure nothing new is begun. */
class TreeCopy {
  readonly #job: TreeCopyJob;
  readonly #walks = new Budget(DIRECTORIES_AT_A_TIME);
  readonly #slots: Budget;
  readonly #endings: Endings;
  readonly #failures: Failures;

  constructor(job: TreeCopyJob) {
    this.#job = job;
    this.#slots = new Budget(job.places ? PLACED_AT_A_TIME : FILES_AT_A_TIME);
    this.#endings = new Endings(job);
    this.#failures = new Failures(job.onFailed);
  }

  async copy(from: DirectoryPair['from'], to: Destination): Promise<void> {
    await this.#copyDirectory({ from, to });
    this.#failures.rethrow();
    this.#job.signal.throwIfAborted();
    await this.#endings.again();
  }

  async #copyDirectory(pair: DirectoryPair, onSent?: () => void): Promise<void> {
    const parts: Part[] = [];
    const below: DirectoryPair[] = [];
    const links: { readonly link: LinkDetails; readonly to: Destination }[] = [];
    let isClear = true;
    let hasEntered = false;
    // Files wait for room while their directory counts as looked at: lists of what is to do stay short.
    await this.#attempt(this.#walks, 1, async () => {
      const contents = await this.#failures.spareBelow(pair.to, () => this.#enter(pair));
      if (!contents) return;
      hasEntered = true;
      const { entries, there, directory } = contents;
      // Whoever copies into it hears of it.
      directory.catch(() => undefined);
      // Asked for already, whether or not it is made yet.
      parts.push({ ...this.#part(new Budget(1), 1, () => directory), sent: Promise.resolve() });
      requireDistinct(entries);
      isClear = !mayMeet(entries);
      for (const entry of entries) {
        if (this.#stopped) break;
        const path = childPath(pair.to.path, entry);
        const existing = there(path);
        if (await this.#isKept(existing, entry, { ...placeOf(pair.to), path })) continue;
        const to = { ...placeOf(pair.to), path, isFree: !existing, isListed: true, directory };
        const link = this.#linkOf(entry);
        if (link) links.push({ link, to });
        else if (!entry.isFile) {
          const from = await this.#leadsOn(pair.from, entry);
          if (from && existing?.isSymlink) throw linkInTheWay(to);
          if (from) below.push({ from, to });
        } else
          await this.#begin(parts, this.#demandOf(entry), (onSent) =>
            this.#failures.spare(() => this.#copyEntry(entry, { from: pair.from, to: { ...to, onSent } })),
          );
      }
    });
    parts.push(...below.map((each) => this.#part(new Budget(1), 1, (sent) => this.#copyBelow(each, sent))));
    // Links come last: nothing may be written through one that was made by the same copy.
    if (links.length > 0) await this.#until(pair, parts, isClear);
    for (const { link, to } of links)
      await this.#begin(parts, 1, (sent) =>
        this.#failures.spare(() => this.#copyLink(link, { ...to, onSent: sent })),
      );
    await this.#until(pair, parts, isOpen(pair.from));
    if (hasEntered)
      await this.#attempt(new Budget(1), 1, () =>
        this.#failures.spare(() => this.#endings.end(pair, onSent)),
      );
    await Promise.all(parts.map(({ done }) => done));
  }

  /** Waits until all was asked for, if the other machine keeps the order; else until it is done. */
  async #until({ to }: DirectoryPair, parts: readonly Part[], mayFollow: boolean): Promise<void> {
    const keepsOrder = this.#job.places && to.machine !== undefined;
    await Promise.all(parts.map(({ sent, done }) => (keepsOrder && mayFollow ? sent : done)));
  }

  /** Begins something once there is room for it. */
  async #begin(parts: Part[], share: number, work: (onSent: () => void) => Promise<void>): Promise<void> {
    await new Promise<void>((admitted) => {
      const part = this.#part(this.#slots, share, async (onSent) => {
        admitted();
        await work(onSent);
      });
      void part.sent.then(admitted);
      parts.push(part);
    });
  }

  #part(room: Budget, share: number, work: (onSent: () => void) => Promise<void>): Part {
    let onSent = (): void => undefined;
    const sent = new Promise<void>((resolve) => {
      onSent = resolve;
    });
    return { sent, done: this.#attempt(room, share, () => work(onSent)).finally(onSent) };
  }

  async #copyBelow(pair: DirectoryPair, onSent: () => void): Promise<void> {
    this.#job.onDirectory({ path: pair.to.path, mode: pair.from.mode });
    await this.#copyDirectory(pair, onSent);
  }

  /** Makes the directory, and finds out what is in it on both sides. */
  async #enter({ from, to }: DirectoryPair): Promise<Contents> {
    return this.#job.places ? await this.#enterAhead({ from, to }) : await this.#enterMade({ from, to });
  }

  async #enterMade({ from, to }: DirectoryPair): Promise<Contents> {
    const [entries, there] = await Promise.all([listing(from), this.#make(to)]);
    // With what the owner needs to fill it; what it really had it gets at the end.
    if (isPrivate(from.mode)) await this.#job.protect(to.path, from.mode | 0o700);
    return { entries, there, directory: Promise.resolve() };
  }

  /** The same without waiting for a new directory: what goes into it is sent right behind, and done after it is made. */
  async #enterAhead({ from, to }: DirectoryPair): Promise<Contents> {
    // With what the owner needs to fill it; what it really had it gets at the end.
    const permissions = permissionsOf(from.mode === undefined ? undefined : from.mode | 0o700);
    const make = (): Promise<void> =>
      to.files.createDirectory(to.path, isPrivate(from.mode) || to.isFree ? permissions : {});
    const directory = withPathInError(to, this.#makeAfter(to.directory, make));
    directory.catch(() => undefined);
    const entries = await (from.listed ?? listing(from));
    if (to.isFree) return { entries, there: () => undefined, directory };
    await directory;
    const names = new Names(await listing(to));
    return { entries, there: (path) => names.at(path), directory };
  }

  /** Makes a directory in one that was asked for before. A lost connection may mix up the two. */
  async #makeAfter(parent: Promise<void> | undefined, make: () => Promise<void>): Promise<void> {
    const { persistence } = this.#job;
    await persistence.run(make);
    // Made with its parents, which then get their permissions from whoever asked for them.
    await parent;
  }

  /** Makes a directory. Returns what is at a path in it, or might be. */
  async #make(to: Destination): Promise<Contents['there']> {
    const made = withPathInError(to, to.files.createDirectory(to.path));
    // Sent along: a server lists a directory after it has made it. Without a list every place is looked at.
    const list = !to.isFree && this.#job.atOnce;
    const listed = list ? listing(to).catch(() => null) : null;
    await made;
    if (to.isFree) return () => undefined;
    const there = await listed;
    if (there === null) return () => ({});
    const names = new Names(there);
    return (path) => names.at(path);
  }

  /** The link an entry is, if it stays one. */
  #linkOf({ link, isSymlink }: DirectoryEntry): LinkDetails | undefined {
    const { keeps, followLinks, onFollowed } = this.#job;
    if (followLinks || !isSymlink) return undefined;
    if (keeps && link) return link;
    onFollowed();
    return undefined;
  }

  /** The directory an entry is; undefined if it is left out. */
  async #leadsOn(parent: FilePlace, entry: DirectoryEntry): Promise<DirectoryPair['from'] | undefined> {
    const { onSkipped } = this.#job;
    const from = { ...placeOf(parent), path: entry.path };
    if (!entry.isDirectory) onSkipped(entry.path, 'it is neither a file nor a directory');
    else {
      const { isSymlink, mode, modifiedAtUs } = await described(from, entry);
      if (!isSymlink) return { ...from, mode, modifiedAtUs };
      // It may lead back to where we are.
      onSkipped(entry.path, 'it is a link to a directory');
    }
    return undefined;
  }

  async #copyEntry(entry: DirectoryEntry, pair: DirectoryPair): Promise<void> {
    const from = { ...placeOf(pair.from), path: entry.path };
    const { size, mode, modifiedAtUs, isSymlink } = await described(from, entry);
    if (entry.isSymlink === undefined && isSymlink && !this.#job.followLinks) this.#job.onFollowed();
    await copyFile({ ...from, size, mode, modifiedAtUs }, pair.to, this.#job);
    this.#job.onFile({ path: pair.to.path, mode });
    this.#job.onCopied?.(pair.to.path);
  }

  async #copyLink(link: LinkDetails, to: Destination): Promise<void> {
    await copyLink(link, to, this.#job);
    this.#job.onCopied?.(to.path);
  }

  /** Whether what is there already stays. Other servers do not list what is there, and are asked. */
  async #isKept(existing: object | undefined, entry: DirectoryEntry, to: FilePlace): Promise<boolean> {
    if (!this.#job.keepExisting || !existing || (entry.isDirectory && !entry.isSymlink)) return false;
    return Object.keys(existing).length > 0 || !(await hasNothing(to));
  }

  get #stopped(): boolean {
    return this.#failures.isFatal || this.#job.signal.aborted;
  }

  #demandOf({ size, mode }: DirectoryEntry): number {
    const isDemanding = size === undefined || size > BLOCK_BYTES || (!this.#job.places && isPrivate(mode));
    return isDemanding ? DEMANDING : 1;
  }

  async #attempt(room: Budget, share: number, work: () => Promise<void>): Promise<void> {
    try {
      await room.spend(share, async () => {
        if (!this.#stopped) await work();
      });
    } catch (error) {
      this.#failures.add(error);
    }
  }
}

/** Where something is, and nothing about what is there. */
function placeOf({ files, machine }: FilePlace): Omit<FilePlace, 'path'> {
  return machine === undefined ? { files } : { files, machine };
}

/** What is to be known about an entry. Servers of others list nothing but names and kinds, and are asked for each. */
async function described(
  from: FilePlace,
  entry: DirectoryEntry,
): Promise<{
  isSymlink: boolean;
  size: number;
  mode: number | undefined;
  modifiedAtUs: number | undefined;
}> {
  const { isSymlink, size, mode, modifiedAtUs } = entry;
  if (size !== undefined && (isSymlink !== undefined || entry.isFile))
    return { isSymlink: isSymlink ?? false, size, mode, modifiedAtUs };
  const found = await withPathInError(from, from.files.getMetadata(from.path));
  return { isSymlink: found.isSymlink, size: found.size, mode, modifiedAtUs: found.modifiedAtMs * 1000 };
}

/** What a link at the destination leads to is not what was asked to be changed. */
export function linkInTheWay(to: FilePlace): ExecError {
  const place = to.machine === undefined ? to.path : `${to.machine}:${to.path}`;
  return new ExecError(
    'invalidFile',
    `${place}: A link is where a directory goes; remove it, or copy to where it leads.`,
  );
}
