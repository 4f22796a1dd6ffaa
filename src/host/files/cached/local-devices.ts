import { statfs } from 'node:fs/promises';

/** File systems whose calls come back at once when the data is in memory: no network, no other program answers. */
const LOCAL_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs, the root of most containers
]);

/** Numbers of devices are used again after an unmount, so what is known of one is looked up anew after this long. */
const KNOWN_FOR_MS = 10_000;

/** More mounts than this in use at a time are unheard of; the table then simply starts over. */
const MAX_KNOWN = 1024;

interface Known {
  readonly isLocal: boolean;
  readonly until: number;
}

const known = new Map<string, Known>();

/** Whether a path leads into a local file system. Asks on the thread pool. */
export async function isLocalPlace(path: string): Promise<boolean> {
  return await statfs(path).then(
    ({ type }) => LOCAL_TYPES.has(type),
    () => false,
  );
}

/** Whether a device holds a local file system; undefined when that is not known (any more). */
export function isLocalDevice(device: string): boolean | undefined {
  const entry = known.get(device);
  return entry !== undefined && performance.now() < entry.until ? entry.isLocal : undefined;
}

/**
 * Finds out what a device holds, given some path on it. On the thread pool, since the answer may take as long as a dead
 * server does; until it comes the device counts as not local, so that one that never answers costs one thread.
 */
export async function learnDevice(device: string, path: string): Promise<void> {
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(device, { isLocal: false, until: Number.POSITIVE_INFINITY });
  const isLocal = await isLocalPlace(path);
  known.set(device, { isLocal, until: performance.now() + KNOWN_FOR_MS });
}
