import { ownPlaces } from '../../kernel/index.js';
import { type Observations, type Disk, snapshotDisk } from './disk.js';
import { type MountPlan, planMounts } from './mount-plan.js';
import type { FilePolicy, PathRule } from '../../../policy/internal.js';
import { type FileView, hostView } from './file-view.js';
import type { View } from './visible-program.js';

interface KnownPlan {
  readonly plan: MountPlan;
  readonly answers: Observations;
}

/** The last plan of each policy, with everything the disk answered while it was made. */
const knownOfHost = new WeakMap<FilePolicy, KnownPlan>();
/** If its changes are held, it is planned for the machine's own files and for the held ones in turn. */
const knownOfHeld = new WeakMap<FilePolicy, KnownPlan>();

/**
 * The plan for the disk as it is now. It depends only on the policy and on what the disk answers, so the last plan
 * still holds if every answer is the same. Patterns are searched for each time, unless the caller did (`findHidden`).
 */
export function planNow(files: FilePolicy, view: FileView = hostView, hidden?: readonly string[]): View {
  const disk = snapshotDisk(view, hidden);
  const known = view === hostView ? knownOfHost : knownOfHeld;
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
