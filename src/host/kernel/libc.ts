import { readdirSync } from 'node:fs';
import { loadKoffi } from './load-koffi.js';
import { isScarcity } from './scarcity.js';
import { errnoName } from './errno.js';

/** The C functions this folder uses. Buffers stand for pointers; -1 means "ask `errno()`" as in C. */
export interface Libc {
  readonly errno: () => string;
  readonly pipe2: (fds: Int32Array, flags: number) => number;
  readonly close: (fd: number) => number;
  readonly read: (fd: number, into: Uint8Array, size: number) => number;
  readonly write: (fd: number, from: Uint8Array, size: number) => number;
  readonly fcntl: (fd: number, command: number, type: 'int', argument: number) => number;
  readonly ioctl: (fd: number, request: number, type: 'int' | 'void *', argument: unknown) => number;
  readonly poll: (fds: Int32Array, count: number, timeoutMs: number) => number;
  readonly schedYield: () => number;
  readonly waitpid: (pid: number, status: Int32Array, options: number) => number;
  readonly waitid: (kind: number, id: number, info: Uint8Array, options: number) => number;
  readonly getrlimit: (resource: number, limits: BigUint64Array) => number;
  readonly setrlimit: (resource: number, limits: BigUint64Array) => number;
  readonly clockGettime: (clock: number, time: BigInt64Array) => number;
  readonly memfdCreate: (name: string, flags: number) => number;
  readonly prctl: (option: number, value: number, a: number, b: number, c: number) => number;
  readonly openMaster: (flags: number) => number;
  readonly grantpt: (fd: number) => number;
  readonly unlockpt: (fd: number) => number;
  readonly attributesInit: (attributes: Uint8Array) => number;
  readonly attributesSetFlags: (attributes: Uint8Array, flags: number) => number;
  readonly attributesSetMask: (attributes: Uint8Array, set: Uint8Array) => number;
  readonly attributesSetDefault: (attributes: Uint8Array, set: Uint8Array) => number;
  readonly actionsInit: (actions: Uint8Array) => number;
  readonly actionsDestroy: (actions: Uint8Array) => number;
  readonly actionsDup2: (actions: Uint8Array, from: number, to: number) => number;
  readonly actionsClose: (actions: Uint8Array, fd: number) => number;
  readonly actionsOpen: (
    actions: Uint8Array,
    fd: number,
    path: string,
    flags: number,
    mode: number,
  ) => number;
  readonly actionsChdir: (actions: Uint8Array, path: string) => number;
  /** Returns the errno itself, also for what failed in the child before `exec` succeeded. */
  readonly posixSpawn: (
    pid: Int32Array,
    path: string,
    actions: Uint8Array,
    attributes: Uint8Array,
    argv: readonly (string | null)[],
    envp: readonly (string | null)[],
  ) => number;
}

/** glibc's struct layouts are the same on these two; the ioctl numbers too. */
const KNOWN_ARCHITECTURES: readonly string[] = ['x64', 'arm64'];

const declarations = {
  pipe2: 'int pipe2(void *fds, int flags)',
  close: 'int close(int fd)',
  read: 'long read(int fd, void *into, size_t size)',
  write: 'long write(int fd, void *from, size_t size)',
  fcntl: 'int fcntl(int fd, int command, ...)',
  ioctl: 'int ioctl(int fd, unsigned long request, ...)',
  poll: 'int poll(void *fds, unsigned long count, int timeoutMs)',
  schedYield: 'int sched_yield()',
  waitpid: 'int waitpid(int pid, void *status, int options)',
  waitid: 'int waitid(int kind, int id, void *info, int options)',
  getrlimit: 'int getrlimit(int resource, void *limits)',
  setrlimit: 'int setrlimit(int resource, void *limits)',
  clockGettime: 'int clock_gettime(int clock, void *time)',
  memfdCreate: 'int memfd_create(const char *name, unsigned int flags)',
  prctl: 'int prctl(int option, unsigned long value, unsigned long a, unsigned long b, unsigned long c)',
  openMaster: 'int posix_openpt(int flags)',
  grantpt: 'int grantpt(int fd)',
  unlockpt: 'int unlockpt(int fd)',
  attributesInit: 'int posix_spawnattr_init(void *attributes)',
  attributesSetFlags: 'int posix_spawnattr_setflags(void *attributes, short flags)',
  attributesSetMask: 'int posix_spawnattr_setsigmask(void *attributes, void *set)',
  attributesSetDefault: 'int posix_spawnattr_setsigdefault(void *attributes, void *set)',
  actionsInit: 'int posix_spawn_file_actions_init(void *actions)',
  actionsDestroy: 'int posix_spawn_file_actions_destroy(void *actions)',
  actionsDup2: 'int posix_spawn_file_actions_adddup2(void *actions, int from, int to)',
  actionsClose: 'int posix_spawn_file_actions_addclose(void *actions, int fd)',
  actionsOpen:
    'int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, unsigned int mode)',
  actionsChdir: 'int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)',
  posixSpawn:
    'int posix_spawn(void *pid, const char *path, void *actions, void *attributes, const char **argv, const char **envp)',
} satisfies Record<Exclude<keyof Libc, 'errno'>, string>;

let loaded: Libc | null | undefined;

/** glibc through koffi, or null where either is missing: musl and other systems take the portable backend. */
export function loadLibc(): Libc | null {
  if (loaded === undefined) loaded = tryLoad();
  return loaded ?? null;
}

/** For code that only runs once `loadLibc` has found it. */
export function libc(): Libc {
  const found = loadLibc();
  if (found === null) throw new Error('glibc is not available on this machine');
  return found;
}

/** Undefined where that is not known: the machine may have room for it the next time. */
function tryLoad(): Libc | null | undefined {
  if (process.platform !== 'linux' || !KNOWN_ARCHITECTURES.includes(process.arch)) return null;
  try {
    const koffi = loadKoffi();
    const library = koffi.load('libc.so.6');
    // Only glibc has it: another libc under this file name has other struct sizes.
    library.func('const char *gnu_get_libc_version()');
    const functions = Object.entries(declarations).map(([name, text]) => [name, library.func(text)]);
    const bound = { errno: () => errnoName(koffi.errno()), ...Object.fromEntries(functions) };
    markInheritedDescriptors(bound);
    return bound;
  } catch (error) {
    return isScarcity(error) ? undefined : null;
  }
}

/** Descriptors that whoever started us left open must not reach our children. Node marks its own. */
function markInheritedDescriptors(bound: Libc): void {
  const F_SETFD = 2;
  const FD_CLOEXEC = 1;
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (fd > 2) bound.fcntl(fd, F_SETFD, 'int', FD_CLOEXEC);
  }
}
