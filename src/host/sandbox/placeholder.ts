import {
  close,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  statSync,
} from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { tryLock } from './kernel.js';

/** Readable by all, writable by none: it only keeps a name from being used. */
const PLACEHOLDER_MODE = 0o555;

const FORBIDDEN: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];

/** Others may remove a directory between our making and our locking it; more often than this is no accident. */
const MAX_ATTEMPTS = 8;

/** A directory that exists only so that something can be mounted over its name. */
export interface Placeholder {
  /** Removes it, unless someone put something in or another sandbox still needs it. Idempotent. */
  release(): void;
}

/**
 * Makes the directory, or shares one another sandbox made. Removing a directory also removes what is mounted
 * over it in every other sandbox, so each user holds a shared lock and only the last one removes it. Null: we may
 * not make it, so neither may the confined process, which has no more rights than we have.
 */
export function holdPlaceholder(path: string): Placeholder | null {
  let created = false;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    try {
      mkdirSync(path, { mode: PLACEHOLDER_MODE });
      created = true;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? '';
      if (FORBIDDEN.includes(code)) return null;
      if (code !== 'EEXIST') throw cannotHold(path, error);
    }
    const fd = openLocked(path);
    if (fd !== null) return new HeldPlaceholder(path, { fd, ours: created || isPlaceholder(path) });
  }
  throw cannotHold(path);
}

function cannotHold(path: string, cause?: unknown): ExecError {
  return new ExecError('sandboxUnavailable', `The missing path ${path} cannot be kept from being created.`, {
    data: { reason: 'placeholder', hint: 'Create it, or do not protect it.' },
    cause,
  });
}

/** Null if the directory went away meanwhile. */
function openLocked(path: string): number | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return null;
  }
  if (tryLock(fd, 'shared') && isStillAt(path, fd)) return fd;
  closeSync(fd);
  return null;
}

function isStillAt(path: string, fd: number): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  const held = fstatSync(fd);
  return now !== undefined && now.ino === held.ino && now.dev === held.dev;
}

/** One of ours, of another sandbox or left behind by a server that was killed: empty, and writable by nobody. */
export function isPlaceholder(path: string): boolean {
  try {
    const found = lstatSync(path);
    return found.isDirectory() && (found.mode & 0o222) === 0 && readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

class HeldPlaceholder implements Placeholder {
  readonly #path: string;
  readonly #ours: boolean;
  #fd: number | null;

  constructor(path: string, { fd, ours }: { fd: number; ours: boolean }) {
    this.#path = path;
    this.#fd = fd;
    this.#ours = ours;
  }

  release(): void {
    const fd = this.#fd;
    if (fd === null) return;
    this.#fd = null;
    try {
      if (this.#ours && tryLock(fd, 'exclusive') && isStillAt(this.#path, fd)) rmdirSync(this.#path);
    } catch {
      // Not empty: it has become someone's directory and stays.
    } finally {
      closeLater(fd);
    }
  }
}

const unwanted: number[] = [];

/** The last close of a removed directory frees it on disk, which may take milliseconds: in the background, one by one. */
function closeLater(fd: number): void {
  if (unwanted.push(fd) === 1) setImmediate(closeNext);
}

function closeNext(): void {
  const [fd] = unwanted;
  if (fd === undefined) return;
  close(fd, () => {
    unwanted.shift();
    closeNext();
  });
}
