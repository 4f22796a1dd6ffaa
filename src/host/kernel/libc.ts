import { readdirSync } from 'node:fs';
import { type CFunctions, declarations } from './c-functions.js';
import { errnoName } from './errno.js';
import { linux } from './linux.js';
import { type Koffi, loadKoffi } from './load-koffi.js';
import { isScarcity } from './scarcity.js';

/** The C library of this machine. Each function is bound on first use. */
export interface Libc extends CFunctions {
  /** The errno of the last call, by name. */
  readonly errno: () => string;
  /** The address of our memory, for structures that hold pointers. */
  readonly address: (memory: Uint8Array) => bigint;
}

/** glibc's struct layouts and the ioctl numbers are the same on both. */
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
 * Any C library, for calls that do not use its structures. Null if none can be loaded. Throws if the machine is short
 * of resources, since a later attempt may succeed.
 */
export function openAnyLibc(): Libc | null {
  if (opened === undefined) opened = open();
  return opened?.libc ?? null;
}

/**
 * glibc, whose structures we know, if it is recent enough to have this function. Null on musl and other systems. Throws
 * if the function is missing, so call it within `unlessScarce`.
 */
export function openGlibc(newest: keyof CFunctions): Libc | null {
  const found = KNOWN_ARCHITECTURES.includes(process.arch) ? openAnyLibc() : null;
  return found !== null && opened?.isGlibc === true && found[newest] !== undefined ? found : null;
}

/**
 * The result of `load`; null if it fails for good, undefined if it fails for lack of resources and is worth another
 * try.
 */
export function unlessScarce<T>(load: () => T): T | null | undefined {
  try {
    return load();
  } catch (error) {
    return isScarcity(error) ? undefined : null;
  }
}

let forChildren: Libc | null | undefined;

/** glibc for starting children, or null: callers then use the portable backend. */
export function loadLibc(): Libc | null {
  if (forChildren === undefined)
    forChildren = unlessScarce(() => {
      const found = openGlibc('actionsChdir');
      if (found !== null) closeInheritedOnExec(found);
      return found;
    });
  return forChildren ?? null;
}

/** For code that runs only after `loadLibc` has succeeded. */
export function libc(): Libc {
  const found = loadLibc();
  if (found === null) throw new Error('glibc is not available on this machine');
  return found;
}

let kept = false;

/**
 * Descriptors our parent left open must not reach our children. In a sandbox, an open directory would be a way out.
 * Node marks its own descriptors.
 */
export function closeInheritedOnExec({ fcntl }: Libc): void {
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
      // Try the next name, which is for another C library.
    }
  }
  return null;
}

type Library = ReturnType<Koffi['load']>;

/** A different libc under the same file name has different struct sizes. */
function isGlibc(library: Library): boolean {
  try {
    library.func('const char *gnu_get_libc_version()');
    return true;
  } catch {
    return false;
  }
}

/** Binding a function takes about 10 µs. A short command uses few of them and should not pay for the rest. */
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
