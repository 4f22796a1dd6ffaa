import type { DirectoryEntry, FileSystem } from '../contract/index.js';
import { ExecError, isExecError } from '../protocol/errors.js';
import { fileUri, isFileUri, pathBytes } from '../protocol/file-uri.js';
import { Budget } from './budget.js';
import {
  BLOCK_BYTES,
  type CopyJob,
  copyFile,
  type Destination,
  type FilePlace,
  isPrivate,
  withPathInError,
  type Original,
} from './copy-file.js';
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
  /** Whether it has its permissions already. */
  readonly isDone?: boolean;
}

/** A copy of a whole tree, and who is told of it. */
export interface TreeCopyJob extends CopyJob {
  readonly onFile: (file: Arrival) => void;
  /** Told of each directory below the first, before what is in it. */
  readonly onDirectory: (directory: Arrival) => void;
  readonly onSkipped: (path: string, why: string) => void;
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
interface DirectoryPair {
  readonly from: Original & { readonly listed?: Promise<readonly DirectoryEntry[]> | undefined };
  readonly to: Destination;
}

/** Many directories and files at a time, so that round trips are shared. After a failure nothing new is begun. */
class TreeCopy {
  readonly #job: TreeCopyJob;
  readonly #walks = new Budget(DIRECTORIES_AT_A_TIME);
  readonly #slots: Budget;
  readonly #failures: unknown[] = [];

  constructor(job: TreeCopyJob) {
    this.#job = job;
    this.#slots = new Budget(job.places ? PLACED_AT_A_TIME : FILES_AT_A_TIME);
  }

  async copy(from: DirectoryPair['from'], to: Destination): Promise<void> {
    await this.#copyDirectory({ from, to });
    if (this.#failures.length > 0) throw this.#failures[0];
    this.#job.signal.throwIfAborted();
  }

  async #copyDirectory(pair: DirectoryPair): Promise<void> {
    const copies: Promise<void>[] = [];
    const below: DirectoryPair[] = [];
    // Files wait for room while their directory counts as looked at: lists of what is to do stay short.
    await this.#attempt(this.#walks, 1, async () => {
      const { entries, isTaken, directory } = await this.#enter(pair);
      // Whoever copies into it hears of it.
      directory.catch(() => undefined);
      copies.push(this.#attempt(new Budget(1), 1, () => directory));
      let begun: Promise<void> = Promise.resolve();
      for (const entry of entries) {
        if (this.#stopped) break;
        const path = childPath(pair.to.path, entry);
        const to = { ...placeOf(pair.to), path, isFree: !isTaken(path), directory };
        if (!entry.isFile) {
          if (await this.#leadsOn(pair.from, entry))
            below.push({ from: { ...placeOf(pair.from), path: entry.path, mode: entry.mode }, to });
          continue;
        }
        await begun;
        begun = new Promise((resolve) => {
          const copied = this.#attempt(this.#slots, this.#demandOf(entry), async () => {
            resolve();
            await this.#copyEntry(entry, { from: pair.from, to });
          });
          copies.push(copied.finally(resolve));
        });
      }
    });
    await Promise.all([...copies, ...below.map((each) => this.#copyBelow(each))]);
  }

  async #copyBelow(pair: DirectoryPair): Promise<void> {
    const { mode } = pair.from;
    this.#job.onDirectory({ path: pair.to.path, mode, isDone: this.#job.places && isMadeSo(pair) });
    await this.#copyDirectory(pair);
  }

  /** Makes the directory, and finds out what is in it on both sides. */
  async #enter({ from, to }: DirectoryPair): Promise<{
    entries: readonly DirectoryEntry[];
    isTaken: (path: string) => boolean;
    directory: Promise<void>;
  }> {
    if (this.#job.places) return await this.#enterAhead({ from, to });
    const [entries, isTaken] = await Promise.all([listing(from), this.#make(to)]);
    // With what the owner needs to fill it; what it really had it gets at the end.
    if (isPrivate(from.mode)) await this.#job.protect(to.path, from.mode | 0o700);
    return { entries, isTaken, directory: Promise.resolve() };
  }

  /** The same without waiting for a new directory: what goes into it is sent right behind, and done after it is made. */
  async #enterAhead({ from, to }: DirectoryPair): Promise<{
    entries: readonly DirectoryEntry[];
    isTaken: (path: string) => boolean;
    directory: Promise<void>;
  }> {
    // With what the owner needs to fill it; what it really had it gets at the end.
    const permissions = permissionsOf(from.mode === undefined ? undefined : from.mode | 0o700);
    const make = (): Promise<void> =>
      to.files.createDirectory(to.path, isPrivate(from.mode) || to.isFree ? permissions : {});
    const directory = withPathInError(to, this.#makeAfter(to.directory, make));
    directory.catch(() => undefined);
    const entries = await (from.listed ?? listing(from));
    if (to.isFree) return { entries, isTaken: () => false, directory };
    await directory;
    const there = await withPathInError(to, to.files.readDirectory(to.path));
    const taken = new Set(there.map((entry) => nameKey(entry.path)));
    return { entries, isTaken: (path) => taken.has(nameKey(path)), directory };
  }

  /** Makes a directory in one that was asked for before. A lost connection may mix up the two. */
  async #makeAfter(parent: Promise<void> | undefined, make: () => Promise<void>): Promise<void> {
    const { persistence } = this.#job;
    await persistence.run(make);
    // Made with its parents, which then get their permissions from whoever asked for them.
    await parent;
  }

  /** Makes a directory. Returns whether something is at a path in it, or might be. */
  async #make(to: Destination): Promise<(path: string) => boolean> {
    const made = withPathInError(to, to.files.createDirectory(to.path));
    // Sent along: a server lists a directory after it has made it. Without a list every place is looked at.
    const list = !to.isFree && this.#job.atOnce;
    const listed = list ? to.files.readDirectory(to.path).catch(() => null) : null;
    await made;
    if (to.isFree) return () => false;
    const there = await listed;
    if (there === null) return () => true;
    const taken = new Set(there.map((entry) => nameKey(entry.path)));
    return (path) => taken.has(nameKey(path));
  }

  async #leadsOn({ files }: FilePlace, entry: DirectoryEntry): Promise<boolean> {
    const { onSkipped } = this.#job;
    if (!entry.isDirectory) onSkipped(entry.path, 'it is neither a file nor a directory');
    // A link to a directory may lead back to where we are.
    else if (await isLink(files, entry)) onSkipped(entry.path, 'it is a link to a directory');
    else return true;
    return false;
  }

  async #copyEntry(entry: DirectoryEntry, pair: DirectoryPair): Promise<void> {
    const from = { ...placeOf(pair.from), path: entry.path };
    const size = entry.size ?? (await withPathInError(from, from.files.getMetadata(from.path))).size;
    await copyFile({ ...from, size, mode: entry.mode }, pair.to, this.#job);
    this.#job.onFile({ path: pair.to.path, mode: entry.mode });
  }

  get #stopped(): boolean {
    return this.#failures.length > 0 || this.#job.signal.aborted;
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
      this.#failures.push(error);
    }
  }
}

/** Where something is, and nothing about what is there. */
function placeOf({ files, machine }: FilePlace): Omit<FilePlace, 'path'> {
  return machine === undefined ? { files } : { files, machine };
}

/** Whether a directory is made with the permissions it is to have. */
export function isMadeSo({ from, to }: DirectoryPair): boolean {
  return to.isFree === true && from.mode !== undefined && (from.mode & 0o700) === 0o700;
}

/** The last name of a path in one form, however the path is written. */
function nameKey(path: string): string {
  return fileUri(pathBytes(path)).split('/').at(-1) ?? '';
}

/** With sizes and permissions where the machine tells them; servers of others do not. */
export async function listing(place: FilePlace): Promise<readonly DirectoryEntry[]> {
  const { files, path } = place;
  try {
    return await withPathInError(place, files.readDirectory(path, { details: true }));
  } catch (error) {
    if (!isExecError(error, 'unsupported')) throw error;
    return await withPathInError(place, files.readDirectory(path));
  }
}

async function isLink(files: FileSystem, entry: DirectoryEntry): Promise<boolean> {
  return entry.isSymlink ?? (await files.getMetadata(entry.path)).isSymlink;
}

/** Where an entry goes. Its name comes from the other machine and must not lead anywhere else. */
export function childPath(directory: string, entry: Pick<DirectoryEntry, 'name' | 'path'>): string {
  const { name, path } = entry;
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) throw notAName();
  if (!isFileUri(path) && !isFileUri(directory)) return `${directory.replace(/\/$/, '')}/${name}`;
  // A name that is not UTF-8 only exists as the last part of a URI. The root has none.
  const last = fileUri(path).split('/').at(-1);
  if (!last) throw notAName();
  return `${fileUri(directory).replace(/\/$/, '')}/${last}`;
}

function notAName(): ExecError {
  return new ExecError(
    'protocolViolation',
    'The other side lists a name that is not one; nothing more is copied.',
  );
}
