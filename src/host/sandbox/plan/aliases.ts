import { posix } from 'node:path';
import type { MountedPlace } from './mount-table.js';
import { type Access, accessAt, isWithin, type PathRule } from '../../../policy/internal.js';

const RANK: Record<Access, number> = { none: 0, read: 1, write: 2 };

/**
 * Rules for files that are visible twice. A bind mount gives everything in a directory a second path: what is denied or
 * protected under the first must be so under the second. A path that a rule names explicitly keeps its rule.
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

/** Of several mounts at one path, the last is on top. */
function visible(mounts: readonly MountedPlace[]): MountedPlace[] {
  return [...new Map(mounts.map((mount) => [mount.path, mount])).values()];
}

/** Mounts whose file system is also mounted elsewhere. */
function onSharedDisks(mounts: readonly MountedPlace[]): MountedPlace[] {
  const counts = new Map<string, number>();
  for (const { device } of mounts) counts.set(device, (counts.get(device) ?? 0) + 1);
  return mounts.filter(({ device }) => (counts.get(device) ?? 0) > 1);
}

function isSameDisk(mount: MountedPlace, other: MountedPlace): boolean {
  return mount !== other && mount.device === other.device;
}

/** Each second path of this place or of something in it, paired with the path we know it by. */
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

/** The mount that contains a path. */
function mountAt(path: string, shown: readonly MountedPlace[]): MountedPlace | undefined {
  return shown
    .filter((mount) => isWithin(path, mount.path))
    .reduce<MountedPlace | undefined>(
      (best, mount) => (best === undefined || mount.path.length > best.path.length ? mount : best),
      undefined,
    );
}
