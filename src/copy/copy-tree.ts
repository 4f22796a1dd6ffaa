import type { DirectoryEntry, LinkDetails } from '../contract/index.js';
import { ExecError } from '../protocol/errors.js';
import { Budget } from './budget.js';
import { copyFile } from './copy-file.js';
import { BLOCK_BYTES, type CopyJob } from './copy-job.js';
import { copyLink } from './copy-link.js';
import { described, placeOf } from './describe-entry.js';
import { FinalAttributes, isOpen } from './final-attributes.js';
import { type DirectoryPair, enterDirectory } from './enter-directory.js';
import { Failures } from './failures.js';
import type { Destination, FilePlace, Original } from './file-place.js';
import { childPath, mayMeet, requireDistinct } from './listing.js';
import { hasNothing } from './open-place.js';
import { isPrivate } from './permissions.js';

/** Directories listed concurrently. */
const DIRECTORIES_AT_A_TIME = 16;
/** Small files copied concurrently, so that their round trips overlap. */
const FILES_AT_A_TIME = 128;
/** The same where a file takes a single request and no resources at the other end. */
const PLACED_AT_A_TIME = 512;
/** A file that stays open for long, or needs a process to make it private, counts as this many. */
const DEMANDING = 8;

/** A file or directory that has been copied. `mode` if the source reports it. */
export interface Arrival {
  readonly path: string;
  readonly mode: number | undefined;
}

/** A copy of a whole tree, with callbacks for its progress. */
export interface TreeCopyJob extends CopyJob {
  readonly onFile: (file: Arrival) => void;
  /** Called for each directory below the top one, before its contents. */
  readonly onDirectory: (directory: Arrival) => void;
  readonly onSkipped: (path: string, why: string) => void;
  /** Called with the reason when an entry cannot be copied; the rest of the tree still is. */
  readonly onFailed: (error: Error) => void;
  /** Called with the path of each copied file and link. */
  readonly onCopied?: (path: string) => void;
}

/** Copies a directory with everything below it, creating the destination if necessary. `listed`: its entries, if already requested. */
export async function copyTree(
  from: Original & { readonly listed?: Promise<readonly DirectoryEntry[]> | undefined },
  to: Destination,
  job: TreeCopyJob,
): Promise<void> {
  await new TreeCopy(job).copy(from, to);
}

/** One piece of work on a directory. */
interface Part {
  /** Resolves when all its requests have been sent. */
  readonly sent: Promise<void>;
  /** Resolves when it is finished or has failed. */
  readonly done: Promise<void>;
}

/** Copies many directories and files concurrently, so that round trips overlap. After a fatal failure it starts nothing new. */
class TreeCopy {
  readonly #job: TreeCopyJob;
  readonly #walks = new Budget(DIRECTORIES_AT_A_TIME);
  readonly #slots: Budget;
  readonly #finalAttributes: FinalAttributes;
  readonly #failures: Failures;

  constructor(job: TreeCopyJob) {
    this.#job = job;
    this.#slots = new Budget(job.placesFiles ? PLACED_AT_A_TIME : FILES_AT_A_TIME);
    this.#finalAttributes = new FinalAttributes(job);
    this.#failures = new Failures(job.onFailed);
  }

  async copy(from: DirectoryPair['from'], to: Destination): Promise<void> {
    await this.#copyDirectory({ from, to });
    this.#failures.rethrow();
    this.#job.signal.throwIfAborted();
    await this.#finalAttributes.setAgain();
  }

  async #copyDirectory(pair: DirectoryPair, onSent?: () => void): Promise<void> {
    const parts: Part[] = [];
    const below: DirectoryPair[] = [];
    const links: { readonly link: LinkDetails; readonly to: Destination }[] = [];
    let isClear = true;
    let hasEntered = false;
    // A directory holds its slot while its files wait for theirs, which bounds the number of pending entries.
    await this.#attempt(this.#walks, 1, async () => {
      const contents = await this.#failures.spareBelow(pair.to, () => enterDirectory(pair, this.#job));
      if (!contents) return;
      hasEntered = true;
      const { entries, there, directory } = contents;
      // Every part that copies into the directory reports this failure.
      directory.catch(() => undefined);
      // Its request is under way, even if the directory does not exist yet.
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
          const from = await this.#directoryOf(pair.from, entry);
          if (from && existing?.isSymlink) throw linkInTheWay(to);
          if (from) below.push({ from, to });
        } else
          await this.#begin(parts, this.#demandOf(entry), (onSent) =>
            this.#failures.spare(() => this.#copyEntry(entry, { from: pair.from, to: { ...to, onSent } })),
          );
      }
    });
    parts.push(...below.map((each) => this.#part(new Budget(1), 1, (sent) => this.#copyBelow(each, sent))));
    // Links come last, so that nothing is written through a link created by this copy.
    if (links.length > 0) await this.#until(pair, parts, isClear);
    for (const { link, to } of links)
      await this.#begin(parts, 1, (sent) =>
        this.#failures.spare(() => this.#copyLink(link, { ...to, onSent: sent })),
      );
    await this.#until(pair, parts, isOpen(pair.from));
    if (hasEntered)
      await this.#attempt(new Budget(1), 1, () =>
        this.#failures.spare(() => this.#finalAttributes.set(pair, onSent)),
      );
    await Promise.all(parts.map(({ done }) => done));
  }

  /** Waits until all parts are sent if the destination preserves request order, or else until they are done. */
  async #until({ to }: DirectoryPair, parts: readonly Part[], mayFollow: boolean): Promise<void> {
    const keepsOrder = this.#job.placesFiles && to.machine !== undefined;
    await Promise.all(parts.map(({ sent, done }) => (keepsOrder && mayFollow ? sent : done)));
  }

  /** Starts work as soon as there is room for it. */
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

  /** The link to create for an entry; undefined if it is not copied as a link. */
  #linkOf({ link, isSymlink }: DirectoryEntry): LinkDetails | undefined {
    const { keepsLinksAndTimes, followLinks, onFollowed } = this.#job;
    if (followLinks || !isSymlink) return undefined;
    if (keepsLinksAndTimes && link) return link;
    onFollowed();
    return undefined;
  }

  /** The directory to copy for an entry; undefined if it is skipped. */
  async #directoryOf(parent: FilePlace, entry: DirectoryEntry): Promise<DirectoryPair['from'] | undefined> {
    const { onSkipped } = this.#job;
    const from = { ...placeOf(parent), path: entry.path };
    if (!entry.isDirectory) onSkipped(entry.path, 'it is neither a file nor a directory');
    else {
      const { isSymlink, mode, modifiedAtUs } = await described(from, entry);
      if (!isSymlink) return { ...from, mode, modifiedAtUs };
      // Following it could lead back here.
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

  /** Whether an existing entry is kept. Other servers do not list existing entries, so they are asked. */
  async #isKept(existing: object | undefined, entry: DirectoryEntry, to: FilePlace): Promise<boolean> {
    if (!this.#job.keepExisting || !existing || (entry.isDirectory && !entry.isSymlink)) return false;
    return Object.keys(existing).length > 0 || !(await hasNothing(to));
  }

  get #stopped(): boolean {
    return this.#failures.isFatal || this.#job.signal.aborted;
  }

  #demandOf({ size, mode }: DirectoryEntry): number {
    const isDemanding =
      size === undefined || size > BLOCK_BYTES || (!this.#job.placesFiles && isPrivate(mode));
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

/** Writing through a link at the destination would change something the caller did not name. */
export function linkInTheWay(to: FilePlace): ExecError {
  const place = to.machine === undefined ? to.path : `${to.machine}:${to.path}`;
  return new ExecError(
    'invalidFile',
    `${place}: There is a link where the directory should go; remove it, or copy to its target.`,
  );
}
