import { readdirSync } from 'node:fs';
import { type CFunctions, declarations } from './c-functions.js';
import { errnoName } from './errno.js';
import { linux } from './linux.js';
import { type Koffi, loadKoffi } from './load-koffi.js';
import { isScarcity } from './scarcity.js';

/** The C library of this machine. Each function is bound when it is first taken from here. */
export interface Libc extends CFunctions {
  /** Why the last call failed. */
  readonly errno: () => string;
  /** Where memory of ours begins, for structures that hold pointers. */
  readonly address: (memory: Uint8Array) => bigint;
}

/** glibc's struct layouts are the same on these two; the ioctl numbers too. */
const KNOWN_ARCHITECTURES: readonly string[] = ['x64', 'arm64'];

const LIBRARIES: readonly string[] = [
  'libc.so.6',
  `libc.musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`,
];

interface Opened {
  readonly libc: Libc;
  readonly isGlibc: boolean;
}

let opened: Opened | null | undefined;

/**
 * Whichever C library there is, for calls that take no structure of its own. Null where it cannot be reached; throws
 * where the machine is short of something, since it may have room for it the next time.
 */
export function openAnyLibc(): Libc | null {
  if (opened === undefined) opened = open();
  return opened?.libc ?? null;
}

/**
 * glibc, whose structures we know, if it is recent enough to have this function. Null on musl and other systems. For use
 * within `unlessScarce`: throws where the function is missing.
 */
export function openGlibc(newest: keyof CFunctions): Libc | null {
  const found = KNOWN_ARCHITECTURES.includes(process.arch) ? openAnyLibc() : null;
  return found !== null && opened?.isGlibc === true && found[newest] !== undefined ? found : null;
}

/** What `load` returns; null if it fails, undefined if only for now: the machine may have room for it the next time. */
export function unlessScarce<T>(load: () => T): T | null | undefined {
  try {
    return load();
  } catch (error) {
    return isScarcity(error) ? undefined : null;
  }
}

let forChildren: Libc | null | undefined;

/** glibc as children are started with it, or null where that cannot be: those take the portable backend. */
export function loadLibc(): Libc | null {
  if (forChildren === undefined)
    forChildren = unlessScarce(() => {
      const found = openGlibc('actionsChdir');
      if (found !== null) keepInheritedFromChildren(found);
      return found;
    });
  return forChildren ?? null;
}

/** For code that only runs once `loadLibc` has found it. */
export function libc(): Libc {
  const found = loadLibc();
  if (found === null) throw new Error('glibc is not available on this machine');
  return found;
}

let kept = false;

/**
 * Descriptors that whoever started us left open must not reach our children, least of all a sandbox: a directory among
 * them is a way out. Node marks its own.
 */
export function keepInheritedFromChildren({ fcntl }: Libc): void {
  if (kept) return;
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (fd > 2) fcntl(fd, linux.F_SETFD, 'int', linux.FD_CLOEXEC);
  }
  kept = true;
}

function open(): Opened | null {
  if (process.platform !== 'linux') return null;
  for (const name of LIBRARIES) {
    try {
      const koffi = loadKoffi();
      const library = koffi.load(name);
      return { libc: bindLazily(koffi, library), isGlibc: isGlibc(library) };
    } catch (error) {
      if (isScarcity(error)) throw error;
      // The next name is for another C library.
    }
  }
  return null;
}

type Library = ReturnType<Koffi['load']>;

/** Another libc under that file name has other struct sizes. */
function isGlibc(library: Library): boolean {
  try {
    library.func('const char *gnu_get_libc_version()');
    return true;
  } catch {
    return false;
  }
}

/** Binding one takes some 10 µs: a short command uses few of them, and would notice all. */
function bindLazily(koffi: Koffi, library: Library): Libc {
  const libc = { errno: () => errnoName(koffi.errno()), address: koffi.address };
  for (const [name, declaration] of Object.entries(declarations))
    Object.defineProperty(libc, name, {
      configurable: true,
      get: () => {
        const value: unknown = library.func(declaration);
        Object.defineProperty(libc, name, { value });
        return value;
      },
    });
  return libc as Libc;
}
