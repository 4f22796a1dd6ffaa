import { lstatSync, readFileSync, type BigIntStats } from 'node:fs';
import { type FileView, type HeldView, hostView } from '../plan/file-view.js';
import type { Mount, MountPlan } from '../plan/mount-plan.js';
import { withMountPoints } from '../plan/mount-points.js';
import { mountTable } from '../plan/mount-table.js';

/** Long enough to outlive the pauses within one burst of uses. */
const IDLE_MS = 10_000;

/** Placeholders are visible in the workspace while they are held, so they should not linger. */
const IDLE_WITH_PLACEHOLDERS_MS = 1_000;

/** How long an idle sandbox may be kept. */
export function idleMsOf({ placeholders }: MountPlan): number {
  return placeholders.length > 0 ? IDLE_WITH_PLACEHOLDERS_MS : IDLE_MS;
}

/**
 * What a sandbox of this plan shows, as a text to compare. Mounts show what was there when they were made, with the
 * privileges we had then. If a path has been replaced since, a file system mounted, or privileges dropped, a new
 * sandbox is needed.
 */
export function viewIdentity(
  plan: MountPlan,
  {
    held,
    look = (mount) => lookAt(mount, held),
  }: {
    readonly held?: HeldView | undefined;
    readonly look?: (mount: Mount) => BigIntStats | undefined;
  } = {},
): string {
  const { base, mounts } = held ? withMountPoints(plan, held) : plan;
  const places = mounts.map((mount) => [mount, placeIdentity(look(mount)), held?.sourceOf(mount.path)]);
  return JSON.stringify([base, places, held?.id, mountTable(), ownRights()]);
}

/** What is at the path of a mount now. Undefined if we may not look, which never matches what was there before. */
export function lookAt({ path }: Mount, view: FileView = hostView): BigIntStats | undefined {
  try {
    return lstatSync(view.reach(path), { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}

/**
 * Inode numbers are reused; birth times are not. A mount belongs to the name it was made over, and the same file may be
 * linked there again: that shows in its ctime, as every other change does. Directories cannot be linked, and one that
 * is moved takes its mounts with it.
 */
function placeIdentity(found: BigIntStats | undefined): string {
  if (found === undefined) return '';
  const identity = `${found.dev}:${found.ino}:${found.birthtimeNs}`;
  return found.isDirectory() ? identity : `${identity}:${found.ctimeNs}`;
}

/**
 * The identity and privileges a new process gets. Not from Node's `process.umask()`, which briefly changes the umask to
 * read it.
 */
function ownRights(): string[] {
  return readFileSync('/proc/self/status', 'latin1').match(/^(Umask|Uid|Gid|Groups|Cap\w+):.*$/gm) ?? [];
}
