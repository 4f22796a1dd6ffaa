import { lstatSync, readFileSync, type BigIntStats } from 'node:fs';
import type { Mount, MountPlan } from './mount-plan.js';

/** What is kept ready for the next use of a policy outlives the pause between two uses of one burst. */
const IDLE_MS = 10_000;

/** Placeholders can be seen in the workspace as long as something holds them, so it does not linger then. */
const IDLE_WITH_PLACEHOLDERS_MS = 1_000;

/** How long a sandbox without work may be kept. */
export function idleMsOf({ placeholders }: MountPlan): number {
  return placeholders.length > 0 ? IDLE_WITH_PLACEHOLDERS_MS : IDLE_MS;
}

/**
 * What a sandbox of this plan shows, as a text to compare: mounts show what was there when they were made. A place that
 * was replaced since, or a file system that was mounted since, needs another sandbox.
 */
export function viewIdentity(
  { base, mounts }: MountPlan,
  look: (mount: Mount) => BigIntStats | undefined = lookAt,
): string {
  return JSON.stringify([base, mounts.map((mount) => [mount, placeIdentity(look(mount))]), mountTable()]);
}

/** What is at the place of a mount now. */
export function lookAt({ path }: Mount): BigIntStats | undefined {
  return lstatSync(path, { throwIfNoEntry: false, bigint: true });
}

/** Numbers of files are used again; the time of birth is not. */
function placeIdentity(found: BigIntStats | undefined): string {
  return found ? `${found.dev}:${found.ino}:${found.birthtimeNs}` : '';
}

/** The kernel passes later mounts on into every sandbox, and does not ask whether they may be written to there. */
function mountTable(): string {
  return readFileSync('/proc/self/mountinfo', 'latin1');
}
