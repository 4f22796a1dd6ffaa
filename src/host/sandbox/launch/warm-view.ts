import { lstatSync, readFileSync, type BigIntStats } from 'node:fs';
import type { Mount, MountPlan } from '../plan/mount-plan.js';
import { mountTable } from '../plan/mount-table.js';

/** What is kept ready for the next use of a policy outlives the pause between two uses of one burst. */
const IDLE_MS = 10_000;

/** Placeholders can be seen in the workspace as long as something holds them, so it does not linger then. */
const IDLE_WITH_PLACEHOLDERS_MS = 1_000;

/** How long a sandbox without work may be kept. */
export function idleMsOf({ placeholders }: MountPlan): number {
  return placeholders.length > 0 ? IDLE_WITH_PLACEHOLDERS_MS : IDLE_MS;
}

/**
 * What a sandbox of this plan shows, as a text to compare: mounts show what was there when they were made, to whom we
 * were then. A place that was replaced since, a file system that was mounted since, and rights we gave up since need
 * another sandbox.
 */
export function viewIdentity(
  { base, mounts }: MountPlan,
  look: (mount: Mount) => BigIntStats | undefined = lookAt,
): string {
  const places = mounts.map((mount) => [mount, placeIdentity(look(mount))]);
  return JSON.stringify([base, places, mountTable(), ownRights()]);
}

/** What is at the place of a mount now. Nothing, where we may not look: it is not what was seen there before. */
export function lookAt({ path }: Mount): BigIntStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}

/**
 * Numbers of files are used again; the time of birth is not. A mount goes with the name it was made over, and the same
 * file may be linked there anew: that shows in the time of its last change, as every other change does. Nobody links a
 * directory, and one that is moved takes its mounts along.
 */
function placeIdentity(found: BigIntStats | undefined): string {
  if (found === undefined) return '';
  const identity = `${found.dev}:${found.ino}:${found.birthtimeNs}`;
  return found.isDirectory() ? identity : `${identity}:${found.ctimeNs}`;
}

/** Whom a process is started as. Not asked of Node, which would change the mask for a moment to know it. */
function ownRights(): string[] {
  return readFileSync('/proc/self/status', 'latin1').match(/^(Umask|Uid|Gid|Groups|Cap\w+):.*$/gm) ?? [];
}
