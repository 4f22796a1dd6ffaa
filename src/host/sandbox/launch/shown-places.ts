import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { linux, openInside } from '../../kernel/index.js';
import type { HeldView } from '../plan/file-view.js';
import type { MountPlan } from '../plan/mount-plan.js';
import { withMountPoints } from '../plan/mount-points.js';
import { lookAt } from './view-identity.js';

/**
 * Whether a sandbox shows what is at the paths of its mounts now. In a held view they are made by path, and what was there at
 * that moment may have been replaced, and replaced again.
 */
export function showsPlaces(init: number, plan: MountPlan, held: HeldView): boolean {
  const bound = withMountPoints(plan, held).mounts.filter(
    ({ kind }) => kind === 'readOnly' || kind === 'writable',
  );
  let root: number | undefined;
  try {
    root = openSync(`/proc/${init}/root`, linux.O_PATH | constants.O_DIRECTORY);
    for (const mount of bound) {
      const now = lookAt(mount, held);
      const shown = lookInside(root, mount.path);
      if (now === undefined || now.dev !== shown.dev || now.ino !== shown.ino) return false;
    }
    return true;
  } catch {
    // It has ended, or something is not there.
    return false;
  } finally {
    if (root !== undefined) closeSync(root);
  }
}

function lookInside(root: number, path: string): { dev: bigint; ino: bigint } {
  const fd = openInside(root, path);
  try {
    return fstatSync(fd, { bigint: true });
  } finally {
    closeSync(fd);
  }
}
