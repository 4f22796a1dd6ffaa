import { statfs } from 'node:fs/promises';

/** File systems that answer immediately if the data is in memory: no network and no other program involved. */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs, the root of most containers
]);

/** Device numbers are reused after an unmount, so entries expire after this long. */
const KNOWN_FOR_MS = 10_000;

/** More mounts than this in use at a time are unheard of; the table then simply starts over. */
const MAX_KNOWN = 1024;

interface Known {
  readonly isLocal: boolean;
  readonly until: number;
}

const known = new Map<string, Known>();

/** True if a path is on a local file system. Asks on the thread pool. */
export async function isLocalPlace(path: string): Promise<boolean> {
  return await statfs(path).then(
    ({ type }) => LOCAL_TYPES.has(type),
    () => false,
  );
}

/** True if a device holds a local file system; undefined if that is not known (any more). */
export function isLocalDevice(device: string): boolean | undefined {
  const entry = known.get(device);
  return entry !== undefined && performance.now() < entry.until ? entry.isLocal : undefined;
}

/**
 * Determines what a device holds, given some path on it. On the thread pool, since a dead server may never answer;
 * until then the device counts as not local, so that such a server costs only one thread.
 */
export async function learnDevice(device: string, path: string): Promise<void> {
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(device, { isLocal: false, until: Number.POSITIVE_INFINITY });
  const isLocal = await isLocalPlace(path);
  known.set(device, { isLocal, until: performance.now() + KNOWN_FOR_MS });
}
