import type { HeldView } from './file-view.js';
import type { Mount, MountPlan } from './mount-plan.js';

/**
 * A held view of a directory ends at the mount points below it, whereas a bind mount includes them. So each gets a mount of
 * its own, with the access its place has.
 */
export function withMountPoints(plan: MountPlan, { mountPoints }: HeldView): MountPlan {
  const known = new Set(plan.mounts.map(({ path }) => path));
  const missing = mountPoints.filter((path) => !known.has(path)).flatMap((path) => mountAt(path, plan));
  if (missing.length === 0) return plan;
  const mounts = [...plan.mounts, ...missing].toSorted((a, b) => depth(a.path) - depth(b.path));
  return { ...plan, mounts };
}

function mountAt(path: string, { accessAt }: MountPlan): Mount[] {
  const access = accessAt(path);
  if (access === 'none') return [];
  return [{ kind: access === 'write' ? 'writable' : 'readOnly', path }];
}

function depth(path: string): number {
  return path.split('/').length;
}
