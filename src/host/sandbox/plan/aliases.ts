import { posix } from 'node:path';
import type { MountedPlace } from './mount-table.js';
import { type Access, accessAt, isWithin, type PathRule } from '../../../policy/internal.js';

const RANK: Record<Access, number> = { none: 0, read: 1, write: 2 };

/**
 * Rules for places the machine shows twice. Whoever bind-mounts a directory gives everything in it a second path: what is denied or
 * protected under the first must be so under the second. A path that a rule names stands as it says.
 */
export function aliasRules(
  rules: ReadonlyMap<string, PathRule>,
  mounts: readonly MountedPlace[],
): readonly PathRule[] {
  const shown = visible(mounts);
  const shared = onSharedDisks(shown);
  if (shared.length === 0) return [];
  return [...rules.values()]
    .filter(({ path, access }) => access !== 'write' && path !== '/')
    .flatMap(({ path }) => aliasesOf(path, { shown, shared }))
    .filter(({ alias }) => !rules.has(alias))
    .map(({ alias, path }): PathRule => ({ path: alias, access: accessAt(rules, path), whenMissing: 'skip' }))
    .filter(({ path, access }) => RANK[access] < RANK[accessAt(rules, path)]);
}

/** Of those at one path the last lies on top. */
function visible(mounts: readonly MountedPlace[]): MountedPlace[] {
  return [...new Map(mounts.map((mount) => [mount.path, mount])).values()];
}

/** Those whose file system is mounted elsewhere, too. */
function onSharedDisks(mounts: readonly MountedPlace[]): MountedPlace[] {
  const counts = new Map<string, number>();
  for (const { device } of mounts) counts.set(device, (counts.get(device) ?? 0) + 1);
  return mounts.filter(({ device }) => (counts.get(device) ?? 0) > 1);
}

function isSameDisk(mount: MountedPlace, other: MountedPlace): boolean {
  return mount !== other && mount.device === other.device;
}

/** Each second path of this place, or of something in it, with the path of that which we know it by. */
function aliasesOf(
  path: string,
  { shown, shared }: { shown: readonly MountedPlace[]; shared: readonly MountedPlace[] },
): { alias: string; path: string }[] {
  const home = mountAt(path, shown);
  if (home === undefined) return [];
  const onDisk = posix.join(home.root, posix.relative(home.path, path));
  return shared
    .filter((mount) => isSameDisk(mount, home))
    .flatMap(({ path: at, root }) => {
      if (isWithin(onDisk, root)) return [{ alias: posix.join(at, posix.relative(root, onDisk)), path }];
      if (isWithin(root, onDisk))
        return [{ alias: at, path: posix.join(path, posix.relative(onDisk, root)) }];
      return [];
    })
    .filter(({ alias }) => mountAt(alias, shown)?.device === home.device);
}

/** The mount a path lies on. */
function mountAt(path: string, shown: readonly MountedPlace[]): MountedPlace | undefined {
  return shown
    .filter((mount) => isWithin(path, mount.path))
    .reduce<MountedPlace | undefined>(
      (best, mount) => (best === undefined || mount.path.length > best.path.length ? mount : best),
      undefined,
    );
}
