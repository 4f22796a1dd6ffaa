import {
  close,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
} from 'node:fs';
import { posix } from 'node:path';
import { ExecError } from '../../../protocol/errors.js';
import { type FileView, hostView } from './file-view.js';
import { tryLock } from '../../kernel/index.js';
import { parentOf } from '../../../policy/internal.js';

/**
 * Blocks a name for confined processes only. To everyone else it is an ordinary directory, which git and others fill as
 * if they had made it. The sticky bit has no effect here, and nobody else makes empty directories with it.
 */
const PLACEHOLDER_MODE = 0o1755;
const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;

const FORBIDDEN: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];

/** Someone may remove the directory after we made it and before we locked it; more often than this is no accident. */
const MAX_ATTEMPTS = 8;

/** A directory that exists only as a mount point for its name. */
export interface Placeholder {
  /** Removes it, unless it has content or another sandbox still needs it. Idempotent. */
  release(): void;
}

/** Placeholders of this server, by view and path: all its sandboxes share one descriptor and one lock. */
const held = new Map<string, HeldPlaceholder>();

/**
 * Makes the directory, or shares one another sandbox made. Removing a directory also removes what is mounted over it in
 * every other sandbox, so each server holds a shared lock and only the last user removes it. Null if we may not make
 * it: then the confined process may not either, having no more privileges than we do. If it could grant itself
 * permission, as we could, the start fails.
 */
export function holdPlaceholder(path: string, view: FileView = hostView): Placeholder | null {
  const known = heldAt(path, view);
  if (known !== undefined) return known.share();
  let parent: number | undefined;
  try {
    parent = view.open(parentOf(path));
    const lock = makeLocked({ parent, name: posix.basename(path) });
    return new HeldPlaceholder(path, { lock, parent, view }).share();
  } catch (error) {
    if (parent !== undefined) closeSync(parent);
    if (error instanceof ExecError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    const changeable = code === 'EACCES' && isOursToOpen(path, view);
    if (FORBIDDEN.includes(code) && !changeable) return null;
    throw cannotHold(path, error);
  }
}

/** For a server about to exit: removes every placeholder, even those still held here, unless another server needs them. */
export function releaseAllPlaceholders(): void {
  for (const each of [...held.values()]) each.end();
}

/**
 * A name in an open directory, independent of where the path leads by now. In a writable place anyone may swap the path
 * for a link at any moment.
 */
interface Entry {
  readonly parent: number;
  readonly name: string;
}

const pathOf = ({ parent, name }: Entry): string => `/proc/self/fd/${parent}/${name}`;

/** Creates the directory if it is missing. */
function makeLocked(entry: Entry): LockedDirectory {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    ensureDescriptors();
    try {
      mkdirSync(pathOf(entry), { mode: PLACEHOLDER_MODE });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const lock = openLocked(entry);
    if (lock !== null) return lock;
  }
  throw new Error('it is gone each time');
}

/**
 * Throws unless there are enough descriptors to lock a directory and to look into it. Without them it could be made, but neither
 * be recognized as ours nor removed.
 */
function ensureDescriptors(): void {
  const lock = openSync('/dev/null', 'r');
  try {
    closeSync(openSync('/dev/null', 'r'));
  } finally {
    closeSync(lock);
  }
}

/** True for a placeholder of this or another sandbox, or one left behind by a killed server. */
export function isPlaceholder(path: string, view: FileView = hostView): boolean {
  return heldAt(path, view) !== undefined || looksLikeOne(view.reach(path));
}

function keyOf(path: string, view: FileView): string {
  return `${view.id}:${path}`;
}

/** Holding it is pointless once another directory has taken its place. */
function heldAt(path: string, view: FileView): HeldPlaceholder | undefined {
  const found = held.get(keyOf(path, view));
  return found?.isStillThere ? found : undefined;
}

/** True if we own the directory that keeps us from making it: the first one on the way up that we can look at. */
function isOursToOpen(path: string, view: FileView): boolean {
  for (let at = parentOf(path); ; at = parentOf(at)) {
    try {
      return lstatSync(view.reach(at)).uid === process.geteuid?.();
    } catch {
      if (at === '/') return false;
    }
  }
}

function cannotHold(path: string, cause?: unknown): ExecError {
  return new ExecError('sandboxUnavailable', `The missing path ${path} cannot be kept from being created.`, {
    data: { reason: 'placeholder', hint: 'Create it, make its directory writable, or do not protect it.' },
    cause,
  });
}

/** A directory that is open and locked, so that its inode number cannot be reused. */
interface LockedDirectory {
  readonly fd: number;
  readonly dev: number;
  readonly ino: number;
}

/** Null if the directory went away meanwhile. */
function openLocked(entry: Entry): LockedDirectory | null {
  let fd: number;
  try {
    fd = openSync(pathOf(entry), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return null;
  }
  const { dev, ino } = fstatSync(fd);
  if (tryLock(fd, 'shared') && isAt(pathOf(entry), { dev, ino })) return { fd, dev, ino };
  closeSync(fd);
  return null;
}

function isAt(path: string, { dev, ino }: Pick<LockedDirectory, 'dev' | 'ino'>): boolean {
  try {
    const now = lstatSync(path, { throwIfNoEntry: false });
    return now !== undefined && now.ino === ino && now.dev === dev;
  } catch {
    return false;
  }
}

/** True if the path itself, without a link in it, leads there. */
function leadsTo(path: string, { lock, view }: { lock: LockedDirectory; view: FileView }): boolean {
  let fd: number | undefined;
  try {
    fd = view.open(path);
    const { dev, ino } = fstatSync(fd);
    return dev === lock.dev && ino === lock.ino;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Empty, and marked. */
function looksLikeOne(path: string): boolean {
  try {
    const found = lstatSync(path);
    return found.isDirectory() && isMarked(found.mode) && readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/**
 * Ignores what the umask removed. A directory others may write to is a temporary directory, where the bit has a
 * meaning.
 */
function isMarked(mode: number): boolean {
  return (mode & STICKY) !== 0 && (mode & WRITABLE_BY_OTHERS) === 0;
}

class HeldPlaceholder {
  readonly #path: string;
  readonly #view: FileView;
  readonly #lock: LockedDirectory;
  readonly #entry: Entry;
  readonly #ours: boolean;
  #users = 0;
  #ended = false;

  /** Owns the descriptors. */
  constructor(
    path: string,
    { lock, parent, view }: { lock: LockedDirectory; parent: number; view: FileView },
  ) {
    this.#path = path;
    this.#view = view;
    this.#lock = lock;
    this.#entry = { parent, name: posix.basename(path) };
    this.#ours = looksLikeOne(`/proc/self/fd/${lock.fd}/.`);
  }

  get #key(): string {
    return keyOf(this.#path, this.#view);
  }

  get isStillThere(): boolean {
    return leadsTo(this.#path, { lock: this.#lock, view: this.#view });
  }

  share(): Placeholder {
    this.#users += 1;
    // We cannot vouch for what belongs to someone else.
    if (this.#ours) held.set(this.#key, this);
    let shared = true;
    return {
      release: () => {
        if (!shared) return;
        shared = false;
        this.#users -= 1;
        if (this.#users === 0) this.end();
      },
    };
  }

  /** Idempotent: users may release it later. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { fd } = this.#lock;
    if (held.get(this.#key) === this) held.delete(this.#key);
    const at = pathOf(this.#entry);
    try {
      if (this.#ours && tryLock(fd, 'exclusive') && isAt(at, this.#lock)) rmdirSync(at);
    } catch {
      // Not empty: it has become someone's directory and stays.
      removeMark(fd);
    } finally {
      closeLater(fd);
      closeLater(this.#entry.parent);
    }
  }
}

function removeMark(fd: number): void {
  try {
    fchmodSync(fd, fstatSync(fd).mode & 0o777);
  } catch {
    // It belongs to someone else.
  }
}

const toClose: number[] = [];

/**
 * The last close of a removed directory frees it on disk, which may take milliseconds: in the background, one by one.
 */
function closeLater(fd: number): void {
  if (toClose.push(fd) === 1) setImmediate(closeNext);
}

function closeNext(): void {
  const [fd] = toClose;
  if (fd === undefined) return;
  close(fd, () => {
    toClose.shift();
    closeNext();
  });
}
