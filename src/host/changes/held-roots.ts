import { lstatSync } from 'node:fs';
import { ExecError } from '../../protocol/errors.js';
import { KERNEL_TYPES, type MountedPlace, type MountPlan } from '../sandbox/index.js';

/** Places that are the kernel's own, in every sandbox. What is written there is not a file, unless disks are mounted below. */
const KERNEL_PLACES: readonly string[] = ['/dev', '/proc', '/sys'];
const NOT_DISKS: readonly string[] = [...KERNEL_TYPES, 'devtmpfs', 'devpts', 'mqueue', 'hugetlbfs'];

/** What a policy lets programs write to, as far as changes can be held there. */
export interface HeldRoots {
  /** Directories, outer ones before inner ones. An inner one is on another file system. */
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
  const readable = earlier.filter(
    (path) =>
      isDirectory(path) &&
      plan.accessAt(path) !== 'none' &&
      !writable.some((other) => isBelow(path, other)) &&
      !mounts.some((mounted) => mounted.path === path),
  );
  const top = [...new Set([...writable, ...readable])].filter(
    (path) => ![...writable, ...readable].some((other) => other !== path && isBelow(path, other)),
  );
  const nested = mounts
    .filter(({ path, type }) => !KERNEL_TYPES.includes(type) && !top.includes(path))
    .map(({ path }) => path)
    .filter((path) => top.some((root) => isBelow(path, root)) && plan.accessAt(path) !== 'none');
  const shown = readable.filter((path) => top.includes(path));
  const mountPoints = [...new Set([...nested, ...shown])].toSorted((a, b) => depth(a) - depth(b));
  const further = mountPoints.filter((path) => plan.accessAt(path) === 'write' && !top.includes(path));
  for (const path of further) if (!isDirectory(path)) throw fileMounted(path);
  return { roots: [...top.toSorted((a, b) => depth(a) - depth(b)), ...further], mountPoints };
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
  return isDirectory(path) ? path : path.slice(0, path.lastIndexOf('/')) || '/';
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isBelow(path: string, place: string): boolean {
  return path === place || place === '/' || path.startsWith(`${place}/`);
}

function depth(path: string): number {
  return path.split('/').length;
}

function everythingWritable(): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    'Changes can be held below certain directories only, and this policy makes the whole disk writable.',
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
