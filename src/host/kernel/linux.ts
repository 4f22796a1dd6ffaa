/**
 * Constants from the Linux headers that Node's `constants` lack, under their C names. All have the same value on x64
 * and arm64, the architectures our bindings support.
 */
export const linux = {
  /** Node sets it on every open and exports no constant. */
  O_CLOEXEC: 0o2000000,
  /** Refers to a place without opening it: no side effects, and it never blocks. */
  O_PATH: 0o10000000,
  /** An unnamed file; use with `O_DIRECTORY`. */
  __O_TMPFILE: 0o20000000,

  AT_FDCWD: -100,
  AT_SYMLINK_FOLLOW: 0x400,
  AT_EMPTY_PATH: 0x1000,
  /** Cached attributes only: do not ask a file server. */
  AT_STATX_DONT_SYNC: 0x4000,
  /** `STATX_BASIC_STATS` and `STATX_BTIME`. */
  STATX_BASIC_AND_BIRTH: 0xfff,

  AF_UNIX: 1,
  AF_INET: 2,
  AF_INET6: 10,
  AF_NETLINK: 16,
  SOCK_STREAM: 1,
  SOCK_DGRAM: 2,
  SOCK_RAW: 3,
  SOCK_SEQPACKET: 5,
  SOCK_CLOEXEC: 0o2000000,
  SOCK_NONBLOCK: 0o4000,
  SCM_RIGHTS: 1,
  MSG_CTRUNC: 0x08,
  MSG_DONTWAIT: 0x40,
  MSG_NOSIGNAL: 0x4000,
  /** Received descriptors are not inherited by children. */
  MSG_CMSG_CLOEXEC: 0x4000_0000,
  SOL_SOCKET: 1,
  SOL_TCP: 6,
  TCP_INFO: 11,
  SO_PEERCRED: 17,

  /** The system call number, the same on every architecture. */
  SYS_openat2: 437,
  SYS_fsconfig: 431,
  SYS_fspick: 433,
  FSPICK_CLOEXEC: 1,
  FSPICK_EMPTY_PATH: 8,
  FSCONFIG_CMD_RECONFIGURE: 7,
  RESOLVE_NO_XDEV: 0x01,
  RESOLVE_NO_SYMLINKS: 0x04,
  RESOLVE_BENEATH: 0x08,
  RESOLVE_IN_ROOT: 0x10,
  /** Resolve from the kernel's caches only: fail rather than ask a disk or a server. Since Linux 5.12. */
  RESOLVE_CACHED: 0x20,

  /** Fail rather than wait. File systems without support refuse the call. */
  RWF_NOWAIT: 0x8,

  F_SETFD: 2,
  F_SETFL: 4,
  FD_CLOEXEC: 1,
  F_DUPFD_CLOEXEC: 1030,
  F_GETPIPE_SZ: 1032,
  F_ADD_SEALS: 1033,
  /** `F_SEAL_SEAL`, `SHRINK`, `GROW` and `WRITE`. */
  F_ALL_SEALS: 0xf,
  MFD_CLOEXEC: 1,
  MFD_ALLOW_SEALING: 2,
  /** For `fallocate`: the size of the file stays as it is. */
  FALLOC_FL_KEEP_SIZE: 1,
  LOCK_SH: 1,
  LOCK_EX: 2,
  LOCK_NB: 4,
  POLLIN: 1,
  EPOLL_CTL_ADD: 1,
  EPOLL_CTL_DEL: 2,
  EPOLLIN: 1,
  EPOLLOUT: 4,
  SEEK_CUR: 1,
  /** The next byte at or after an offset that is not in a hole… */
  SEEK_DATA: 3,
  /** …and the next that is. */
  SEEK_HOLE: 4,
  SPLICE_F_NONBLOCK: 2,

  TCGETS: 0x5401,
  TIOCGPGRP: 0x540f,
  TIOCGWINSZ: 0x5413,
  TIOCSWINSZ: 0x5414,
  FIONREAD: 0x541b,
  TIOCGPTPEER: 0x5441,
  TIOCGPTN: 0x80045430,
  /** Returns the user namespace that owns a namespace. */
  NS_GET_USERNS: 0xb701,
  ICANON: 0o2,
  ECHO: 0o10,
  VEOF: 4,

  POSIX_SPAWN_SETSIGDEF: 0x04,
  POSIX_SPAWN_SETSIGMASK: 0x08,
  POSIX_SPAWN_SETSID: 0x80,
  WNOHANG: 1,
  WEXITED: 4,
  WNOWAIT: 0x0100_0000,
  /** The system call number. */
  SYS_waitid: process.arch === 'arm64' ? 95 : 247,
  P_ALL: 0,
  P_PID: 1,
  CLD_EXITED: 1,
  CLD_DUMPED: 3,
  RLIMIT_RTTIME: 15,
  CLOCK_BOOTTIME: 7,
  PR_SET_PDEATHSIG: 1,
  PR_SET_TIMERSLACK: 29,
  PR_GET_TIMERSLACK: 30,
  PR_SET_CHILD_SUBREAPER: 36,
} as const;
