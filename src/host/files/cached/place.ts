import { constants } from 'node:fs';
import { kernelCalls, type KernelCalls, linux } from '../../kernel/index.js';
import { isLocalDevice, learnDevice } from './local-devices.js';

const KIND_MASK = 0o170000;
const KINDS = { directory: 0o040000, file: 0o100000, link: 0o120000 } as const;

/** What is at a path. */
export interface PlaceFacts {
  readonly kind: keyof typeof KINDS | 'other';
  readonly device: string;
  readonly size: number;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
}

/** How to treat links: follow all, do not follow the last, or allow none. */
export type LinkRule = 'follow' | 'lastAsIs' | 'none';

/** Shared by all calls: nothing stays in it. */
const statBuffer = Buffer.alloc(256);
const how = new BigUint64Array(3);

/**
 * Calls `use` with a descriptor of a path on a local file system, if that takes no waiting. Otherwise, and on any doubt
 * or error, returns null: the thread-pool path then finds out.
 */
export function withCachedFd<Result>(
  path: Buffer,
  links: LinkRule,
  use: (fd: number, facts: PlaceFacts, calls: KernelCalls) => Result | null,
): Result | null {
  const calls = kernelCalls();
  if (calls === null) return null;
  how[0] = BigInt(linux.O_PATH | linux.O_CLOEXEC | (links === 'lastAsIs' ? constants.O_NOFOLLOW : 0));
  how[2] = BigInt(linux.RESOLVE_CACHED | (links === 'none' ? linux.RESOLVE_NO_SYMLINKS : 0));
  const fd = calls.openat2(Buffer.concat([path, Buffer.of(0)]), how);
  if (fd < 0) return null;
  const facts = factsOf(fd, calls);
  const isLocal = facts === null ? false : isLocalDevice(facts.device);
  if (isLocal === undefined && facts !== null) {
    void learnDevice(facts.device, descriptorPath(fd)).finally(() => calls.close(fd));
    return null;
  }
  try {
    return isLocal === true && facts !== null ? use(fd, facts, calls) : null;
  } finally {
    calls.close(fd);
  }
}

/** A path to what a descriptor refers to, whatever happened to its name. */
export function descriptorPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

/** Offsets are those of `struct statx`, the same on every Linux. */
function factsOf(fd: number, calls: KernelCalls): PlaceFacts | null {
  const stat = statBuffer;
  if (
    calls.statx(fd, linux.AT_EMPTY_PATH | linux.AT_STATX_DONT_SYNC, linux.STATX_BASIC_AND_BIRTH, stat) !== 0
  )
    return null;
  return {
    kind: kindOf(stat.readUInt16LE(28)),
    device: `${stat.readUInt32LE(136)}:${stat.readUInt32LE(140)}`,
    size: Number(stat.readBigUInt64LE(40)),
    createdAtMs: timeAt(stat, 80),
    modifiedAtMs: timeAt(stat, 112),
  };
}

function kindOf(mode: number): PlaceFacts['kind'] {
  switch (mode & KIND_MASK) {
    case KINDS.file:
      return 'file';
    case KINDS.directory:
      return 'directory';
    case KINDS.link:
      return 'link';
    default:
      return 'other';
  }
}

function timeAt(stat: Buffer, offset: number): number {
  return Math.floor(Number(stat.readBigInt64LE(offset)) * 1000 + stat.readUInt32LE(offset + 8) / 1e6);
}
