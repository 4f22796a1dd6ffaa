/** A C function that can also run on the thread pool. */
export interface PooledCall<Parameters extends readonly unknown[]> {
  (...parameters: Parameters): number;
  async(...parameters: [...Parameters, (error: unknown, result: number) => void]): void;
}

/** The C functions we call. Typed arrays stand for pointers; as in C, -1 means "check `errno()`". */
export interface CFunctions {
  readonly open: (path: string, flags: number, mode: number) => number;
  /**
   * The raw system call, since few C libraries wrap `openat2`. The path is NUL-terminated; `how` is flags, mode,
   * resolve.
   */
  readonly openat2: (
    number: number,
    directory: number,
    path: Uint8Array,
    how: BigUint64Array,
    size: number,
  ) => number;
  /** The raw system call: only recent C libraries wrap `fspick`. Returns a descriptor for `fsconfig`. */
  readonly fspick: (number: number, mounted: number, path: string, flags: number) => number;
  /** The raw system call, too. */
  readonly fsconfig: PooledCall<
    [number: number, picked: number, command: number, key: null, value: null, extra: number]
  >;
  readonly close: (fd: number) => number;
  readonly read: (fd: number, into: Uint8Array, size: number) => number;
  readonly preadv2: (
    fd: number,
    vector: BigUint64Array,
    count: number,
    offset: number,
    flags: number,
  ) => number;
  readonly write: (fd: number, from: Uint8Array, size: number) => number;
  readonly fcntl: (fd: number, command: number, type: 'int', argument: number) => number;
  readonly ioctl: (fd: number, request: number, type: 'int' | 'void *', argument: unknown) => number;
  readonly flock: (fd: number, operation: number) => number;
  readonly fallocate: (fd: number, mode: number, offset: number, length: number) => number;
  readonly getsockopt: (
    fd: number,
    level: number,
    option: number,
    into: Int32Array,
    size: Int32Array,
  ) => number;
  readonly statx: (directory: number, path: string, flags: number, mask: number, into: Uint8Array) => number;
  readonly getdents: PooledCall<[fd: number, into: Uint8Array, size: number]>;
  readonly linkat: PooledCall<
    [fromDirectory: number, from: string, toDirectory: number, to: Uint8Array, flags: number]
  >;
  readonly listxattr: (path: Uint8Array, into: Uint8Array, size: number) => number;
  readonly getxattr: (path: Uint8Array, name: Uint8Array, into: Uint8Array, size: number) => number;
  readonly listxattrFollowed: (path: Uint8Array, into: Uint8Array, size: number) => number;
  readonly getxattrFollowed: (path: Uint8Array, name: Uint8Array, into: Uint8Array, size: number) => number;
  readonly setxattr: (
    path: Uint8Array,
    name: Uint8Array,
    from: Uint8Array,
    size: number,
    flags: number,
  ) => number;
  readonly removexattr: (path: Uint8Array, name: Uint8Array) => number;
  readonly utimensat: (directory: number, path: Uint8Array, times: BigInt64Array, flags: number) => number;
  readonly mknod: (path: Uint8Array, mode: number, device: number) => number;
  readonly syncfs: PooledCall<[fd: number]>;
  readonly pipe2: (fds: Int32Array, flags: number) => number;
  readonly poll: (fds: Int32Array, count: number, timeoutMs: number) => number;
  readonly epollCreate: (flags: number) => number;
  readonly epollControl: (epoll: number, operation: number, fd: number, event: Uint8Array) => number;
  readonly epollWait: (epoll: number, events: Uint8Array, count: number, timeoutMs: number) => number;
  readonly dup3: (fd: number, onto: number, flags: number) => number;
  readonly lseek: (fd: number, offset: number, from: number) => number;
  readonly splice: (
    from: number,
    fromOffset: null,
    to: number,
    toOffset: BigInt64Array | null,
    size: number,
    flags: number,
  ) => number;
  readonly sendfile: (to: number, from: number, offset: null, size: number) => number;
  readonly socketpair: (domain: number, type: number, protocol: number, fds: Int32Array) => number;
  readonly socket: (domain: number, type: number, protocol: number) => number;
  readonly sendmsg: (fd: number, message: Uint8Array, flags: number) => number;
  readonly recvmsg: (fd: number, message: Uint8Array, flags: number) => number;
  readonly memfdCreate: (name: string, flags: number) => number;
  readonly schedYield: () => number;
  readonly waitpid: (pid: number, status: Int32Array, options: number) => number;
  readonly wait4: (pid: number, status: Int32Array, options: number, usage: Int32Array) => number;
  /** The raw system call, which also reports what a process has used without reaping it. */
  readonly waitid: (
    number: number,
    kind: number,
    id: number,
    info: Uint8Array,
    options: number,
    usage: Int32Array,
  ) => number;
  readonly getrlimit: (resource: number, limits: BigUint64Array) => number;
  readonly setrlimit: (resource: number, limits: BigUint64Array) => number;
  readonly clockGettime: (clock: number, time: BigInt64Array) => number;
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
  /** Does not return unless it fails. */
  readonly execve: (
    path: string,
    argv: readonly (string | null)[],
    envp: readonly (string | null)[],
  ) => number;
  /** Returns the errno itself, even when the child failed before `exec` succeeded. */
  readonly posixSpawn: (
    pid: Int32Array,
    path: string,
    actions: Uint8Array,
    attributes: Uint8Array,
    argv: readonly (string | null)[],
    envp: readonly (string | null)[],
  ) => number;
}

/** The C declaration of each function. */
export const declarations: Readonly<Record<keyof CFunctions, string>> = {
  open: 'int open(const char *path, int flags, int mode)',
  openat2: 'long syscall(long number, long directory, void *path, void *how, long size)',
  fspick: 'long syscall(long number, long mounted, const char *path, long flags)',
  fsconfig: 'long syscall(long number, long picked, long command, void *key, void *value, long extra)',
  close: 'int close(int fd)',
  read: 'long read(int fd, void *into, size_t size)',
  preadv2: 'long preadv2(int fd, void *vector, int count, int64_t offset, int flags)',
  write: 'long write(int fd, void *from, size_t size)',
  fcntl: 'int fcntl(int fd, int command, ...)',
  ioctl: 'int ioctl(int fd, unsigned long request, ...)',
  flock: 'int flock(int fd, int operation)',
  fallocate: 'int fallocate(int fd, int mode, int64_t offset, int64_t length)',
  getsockopt: 'int getsockopt(int fd, int level, int option, void *into, void *size)',
  statx: 'int statx(int directory, const char *path, int flags, unsigned int mask, void *into)',
  getdents: 'long getdents64(int fd, void *into, size_t size)',
  linkat: 'int linkat(int fromDirectory, const char *from, int toDirectory, void *to, int flags)',
  listxattr: 'long llistxattr(void *path, void *into, size_t size)',
  getxattr: 'long lgetxattr(void *path, void *name, void *into, size_t size)',
  listxattrFollowed: 'long listxattr(void *path, void *into, size_t size)',
  getxattrFollowed: 'long getxattr(void *path, void *name, void *into, size_t size)',
  setxattr: 'int setxattr(void *path, void *name, void *from, size_t size, int flags)',
  removexattr: 'int removexattr(void *path, void *name)',
  utimensat: 'int utimensat(int directory, void *path, void *times, int flags)',
  mknod: 'int mknod(void *path, unsigned int mode, unsigned long device)',
  syncfs: 'int syncfs(int fd)',
  pipe2: 'int pipe2(void *fds, int flags)',
  poll: 'int poll(void *fds, unsigned long count, int timeoutMs)',
  epollCreate: 'int epoll_create1(int flags)',
  epollControl: 'int epoll_ctl(int epoll, int operation, int fd, void *event)',
  epollWait: 'int epoll_wait(int epoll, void *events, int count, int timeoutMs)',
  dup3: 'int dup3(int fd, int onto, int flags)',
  lseek: 'int64_t lseek(int fd, int64_t offset, int from)',
  splice: 'long splice(int from, void *fromOffset, int to, void *toOffset, size_t size, unsigned int flags)',
  sendfile: 'long sendfile(int to, int from, void *offset, size_t size)',
  socketpair: 'int socketpair(int domain, int type, int protocol, void *fds)',
  socket: 'int socket(int domain, int type, int protocol)',
  sendmsg: 'long sendmsg(int fd, void *message, int flags)',
  recvmsg: 'long recvmsg(int fd, void *message, int flags)',
  memfdCreate: 'int memfd_create(const char *name, unsigned int flags)',
  schedYield: 'int sched_yield()',
  waitpid: 'int waitpid(int pid, void *status, int options)',
  wait4: 'int wait4(int pid, void *status, int options, void *usage)',
  waitid: 'long syscall(long number, long kind, long id, void *info, long options, void *usage)',
  getrlimit: 'int getrlimit(int resource, void *limits)',
  setrlimit: 'int setrlimit(int resource, void *limits)',
  clockGettime: 'int clock_gettime(int clock, void *time)',
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
  execve: 'int execve(const char *path, const char **argv, const char **envp)',
  posixSpawn:
    'int posix_spawn(void *pid, const char *path, void *actions, void *attributes, const char **argv, const char **envp)',
};
