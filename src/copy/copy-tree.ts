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
} from './copy-file.js';
import { copyLink } from './copy-link.js';
import { described, placeOf } from './describe-entry.js';
import { Endings, isOpen } from './endings.js';
import { type DirectoryPair, enterDirectory } from './enter-directory.js';
import { Failures } from './failures.js';
import { childPath, mayMeet, requireDistinct } from './listing.js';
import { hasNothing } from './open-place.js';

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
      const contents = await this.#failures.spareBelow(pair.to, () => enterDirectory(pair, this.#job));
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

/** What a link at the destination leads to is not what was asked to be changed. */
export function linkInTheWay(to: FilePlace): ExecError {
  const place = to.machine === undefined ? to.path : `${to.machine}:${to.path}`;
  return new ExecError(
    'invalidFile',
    `${place}: A link is where a directory goes; remove it, or copy to where it leads.`,
  );
}
