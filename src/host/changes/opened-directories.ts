import { type BigIntStats, chmodSync, fstatSync } from 'node:fs';

const OWN_RIGHTS = 0o700;
/** What it takes to make something in a directory. */
const RIGHTS_TO_MAKE = 0o300;

interface Opened {
  /** The mode it really has. */
  readonly mode: number;
  users: number;
  /** When we changed it. */
  readonly ctimeNs: bigint;
}

/** Held directories that we made accessible for a while, by device and inode. */
const opened = new Map<string, Opened>();

/** Does something in a held directory even if its mode keeps us out. */
export async function withAccess<T>(
  directory: number,
  node: BigIntStats,
  use: () => T | Promise<T>,
): Promise<T> {
  if (!isClosed(node)) return await use();
  const restore = gainAccess(directory, node);
  try {
    return await use();
  } finally {
    restore();
  }
}

/** Whether its mode keeps us out: programs may take their own rights away, and only root is exempt. */
export function isClosed({ mode }: BigIntStats): boolean {
  return process.geteuid?.() !== 0 && (Number(mode) & OWN_RIGHTS) !== OWN_RIGHTS;
}

/** Whether its mode is ours to change. */
export function isOwn({ uid }: BigIntStats): boolean {
  return uid === BigInt(process.geteuid?.() ?? 0);
}

/**
 * Opens a closed directory until the returned function is called. Programs that run see the mode their overlay remembers.
 * Several may be in one directory at once, to list and to measure.
 */
export function gainAccess(directory: number, node: BigIntStats): () => void {
  const key = keyOf(node);
  const entry = opened.get(key) ?? open(directory, node);
  entry.users += 1;
  return () => {
    entry.users -= 1;
    if (entry.users > 0) return;
    opened.delete(key);
    close(directory, entry);
  };
}

/** Shows a directory with the mode it really has, not with the one we gave it for a while. */
export function withTrueMode(node: BigIntStats): BigIntStats {
  const entry = opened.size === 0 ? undefined : opened.get(keyOf(node));
  if (entry !== undefined && isAsOpened(node, entry)) node.mode = (node.mode & ~0o7777n) | BigInt(entry.mode);
  return node;
}

function open(directory: number, node: BigIntStats): Opened {
  const path = `/proc/self/fd/${directory}`;
  const mode = Number(node.mode) & 0o7777;
  chmodSync(path, mode | OWN_RIGHTS);
  const entry = { mode, users: 0, ctimeNs: fstatSync(directory, { bigint: true }).ctimeNs };
  opened.set(keyOf(node), entry);
  return entry;
}

function close(directory: number, entry: Opened): void {
  // A program that changed the mode meanwhile has the last word.
  if (isAsOpened(fstatSync(directory, { bigint: true }), entry))
    chmodSync(`/proc/self/fd/${directory}`, entry.mode);
}

/** False if a program has given it another mode since: even the same that we gave it, as `chmod u+w` does. */
function isAsOpened(node: BigIntStats, { mode, ctimeNs }: Opened): boolean {
  if ((Number(node.mode) & 0o7777) !== (mode | OWN_RIGHTS)) return false;
  // Where programs can make something, that may be what happened.
  return node.ctimeNs === ctimeNs || (mode & RIGHTS_TO_MAKE) === RIGHTS_TO_MAKE;
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
