import { lstatSync, type Stats } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { KERNEL_TYPES, type MountedPlace, type MountPlan } from '../sandbox/index.js';

/** Places that are the kernel's own, in every sandbox. What is written there is not a file, unless disks are mounted below. */
const KERNEL_PLACES: readonly string[] = ['/dev', '/proc', '/sys'];
const NOT_DISKS: readonly string[] = [...KERNEL_TYPES, 'devtmpfs', 'devpts', 'mqueue', 'hugetlbfs'];

/** What a policy lets programs write to, as far as changes can be held there. */
export interface HeldRoots {
  /**
   * Directories, outer ones before inner ones. An inner one is on another file system, was held before the outer one, or is in a
   * directory of another user.
   */
  readonly roots: readonly string[];
  /** Mount points below them that need a mount of their own in the sandbox. */
  readonly mountPoints: readonly string[];
}

/**
 * Throws if the changes of this policy cannot be held. `earlier`: directories whose changes the set holds already. A program
 * that may only read them sees those changes all the same.
 */
export function heldRoots(
  plan: MountPlan,
  mounts: readonly MountedPlace[],
  earlier: readonly string[] = [],
): HeldRoots {
  if (plan.base === 'writable' || plan.base === 'unrestricted') throw everythingWritable();
  const writable = plan.mounts
    .filter(({ kind, path }) => kind === 'writable' && !isKernels(path, mounts))
    .map(({ path }) => directoryOf(path));
  const isShown = (path: string): boolean =>
    plan.accessAt(path) !== 'none' && !mounts.some((mounted) => mounted.path === path);
  const readable = earlier.filter(
    (path) => isDirectory(path) && isShown(path) && !writable.some((other) => isBelow(path, other)),
  );
  const top = [...new Set([...writable, ...readable])].filter(
    (path) => ![...writable, ...readable].some((other) => other !== path && isBelow(path, other)),
  );
  const inside = [
    ...new Set([...earlier.filter(isDirectory), ...writable.filter(isBehindOthers(top))]),
  ].filter((path) => !top.includes(path) && top.some((root) => isBelow(path, root)) && isShown(path));
  const nested = mounts
    .filter(({ path, type }) => !KERNEL_TYPES.includes(type) && !top.includes(path))
    .map(({ path }) => path)
    .filter((path) => top.some((root) => isBelow(path, root)) && plan.accessAt(path) !== 'none')
    .filter((path) => nodeAt(path) !== undefined);
  const shown = readable.filter((path) => top.includes(path));
  const mountPoints = [...new Set([...nested, ...inside, ...shown])].toSorted((a, b) => depth(a) - depth(b));
  const further = mountPoints.filter(
    (path) => inside.includes(path) || (plan.accessAt(path) === 'write' && !top.includes(path)),
  );
  for (const path of further) if (!isDirectory(path)) throw fileMounted(path);
  return { roots: [...top.toSorted((a, b) => depth(a) - depth(b)), ...further], mountPoints };
}

/**
 * Whether a directory, or one on the way to it, belongs to somebody else: a plain user cannot hold such a one, so what is in it
 * must be held by itself.
 */
function isBehindOthers(top: readonly string[]): (path: string) => boolean {
  const us = process.geteuid?.() ?? 0;
  return (path) => {
    if (us === 0) return false;
    for (let at = path; !top.includes(at) && at !== '/'; at = parentOf(at))
      if (nodeAt(at)?.uid !== us) return true;
    return false;
  };
}

/** False for `/dev/shm` and the like. */
function isKernels(path: string, mounts: readonly MountedPlace[]): boolean {
  if (!KERNEL_PLACES.some((place) => isBelow(path, place))) return false;
  const around = mounts.filter((mounted) => isBelow(path, mounted.path));
  const innermost = around.toSorted((a, b) => b.path.length - a.path.length)[0];
  if (innermost === undefined || NOT_DISKS.includes(innermost.type)) return true;
  return !KERNEL_PLACES.some((place) => innermost.path !== place && isBelow(innermost.path, place));
}

/** A single file is held by way of its directory, of which the sandbox shows nothing else. */
function directoryOf(path: string): string {
  return isDirectory(path) ? path : parentOf(path);
}

function isDirectory(path: string): boolean {
  return nodeAt(path)?.isDirectory() ?? false;
}

/** Undefined also for what we may not look at, such as a mount in a directory of somebody else. Programs may not, either. */
function nodeAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isBelow(path: string, place: string): boolean {
  return path === place || place === '/' || path.startsWith(`${place}/`);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function depth(path: string): number {
  return path.split('/').length;
}

function everythingWritable(): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'Changes can only be held below certain directories, and this policy makes the whole disk writable.',
    { data: { reason: 'changesEverywhere', hint: 'Use a policy that names its writable directories.' } },
  );
}

function fileMounted(path: string): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    `Changes of ${path} cannot be held: a single file is mounted there.`,
    {
      data: { reason: 'changesFileMount', hint: 'Make it read-only in the policy, or unmount it.' },
    },
  );
}
