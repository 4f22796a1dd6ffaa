import { ownPlaces } from '../../kernel/index.js';
import { type Observations, type Disk, snapshotDisk } from './disk.js';
import { type MountPlan, planMounts } from './mount-plan.js';
import type { FilePolicy, PathRule } from '../../../policy/internal.js';
import { type FileView, hostView } from './file-view.js';
import type { View } from './visible-program.js';

/** The last plan of each policy, with everything the disk answered while it was made. */
const known = new WeakMap<FilePolicy, { readonly plan: MountPlan; readonly answers: Observations }>();

/**
 * The plan for the disk as it is now. It depends only on the policy and on what the disk answers, so the last plan
 * still holds if every answer is the same. Patterns are searched for each time.
 */
export function planNow(files: FilePolicy, view: FileView = hostView): View {
  const disk = snapshotDisk(view);
  const last = known.get(files);
  if (last !== undefined && disk.stillMatches(last.answers)) return { plan: last.plan, disk };
  const plan = planProtected(files, disk);
  if (files.kind === 'restricted' && files.hidden.length === 0)
    known.set(files, { plan, answers: disk.answers() });
  return { plan, disk };
}

/**
 * What the server itself runs and obeys stays read-only wherever it lies: a program that could rewrite it would escape.
 * A policy that makes the whole disk writable protects no file.
 */
function planProtected(files: FilePolicy, disk: Disk): MountPlan {
  const plan = planMounts(files, disk);
  if (files.kind === 'unrestricted' || plan.accessAt('/') === 'write') return plan;
  const exposed = ownPlaces().filter(({ path }) => plan.accessAt(path) === 'write');
  if (exposed.length === 0) return plan;
  const own = exposed.map((place): PathRule => ({ ...place, access: 'read' }));
  return planMounts({ ...files, rules: [...files.rules, ...own] }, disk);
}
