import { type Observations, snapshotDisk } from './disk.js';
import { type MountPlan, planMounts } from './mount-plan.js';
import type { FilePolicy } from '../../../policy/policy.js';
import type { View } from './visible-program.js';

/** The last plan of each policy, and all the disk said while it was made. */
const known = new WeakMap<FilePolicy, { readonly plan: MountPlan; readonly answers: Observations }>();

/**
 * The plan for the disk as it is now. It depends on the policy and on what the disk says, on nothing else: so the last
 * one holds if the disk says the same to every question once more. Patterns are searched for each time.
 */
export function planNow(files: FilePolicy): View {
  const disk = snapshotDisk();
  const last = known.get(files);
  if (last !== undefined && disk.stillMatches(last.answers)) return { plan: last.plan, disk };
  const plan = planMounts(files, disk);
  if (files.kind === 'restricted' && files.hidden.length === 0)
    known.set(files, { plan, answers: disk.answers() });
  return { plan, disk };
}
