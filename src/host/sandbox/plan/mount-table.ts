import { existsSync, lstatSync, readFileSync } from 'node:fs';
import type { Mount, MountPlan } from './mount-plan.js';
import { isWithin } from '../../../policy/internal.js';

/** One mount of this machine. */
export interface MountedPlace {
  readonly path: string;
  /** What is mounted: a file system, by device number, and the directory in it. */
  readonly device: string;
  readonly root: string;
  readonly type: string;
  /** Of this mount alone, such as `ro`. */
  readonly options: readonly string[];
  /** Later mounts below it also appear in its copies. */
  readonly propagates: boolean;
}

/** File systems that are kernel interfaces and hold no user's files. */
export const KERNEL_TYPES: readonly string[] = [
  'proc',
  'sysfs',
  'cgroup',
  'cgroup2',
  'debugfs',
  'tracefs',
  'securityfs',
  'configfs',
  'bpf',
  'pstore',
  'efivarfs',
  'binfmt_misc',
];

/** Where the sandbox has its own, or shows ours read-only. */
const OWN_PLACES: readonly string[] = ['/proc', '/sys', '/dev'];

/** True if a later mount on this machine would appear in existing sandboxes, with its own access rights. */
export function mountsPropagate(): boolean {
  return parseMountTable(mountTable()).some(({ propagates }) => propagates);
}

/**
 * Hides further copies of the kernel's own file systems, such as those of a system tree built in the workspace. For
 * root without capabilities their switches are a way to run code outside, and a second /proc is a way into other
 * sandboxes. For everyone it shows the first process of their own sandbox, which must stay hidden.
 */
export function withoutKernelMounts(plan: MountPlan): MountPlan {
  if (plan.base === 'unrestricted') return plan;
  const hidden = parseMountTable(mountTable())
    .filter(({ path, type }) => KERNEL_TYPES.includes(type) && !OWN_PLACES.some((own) => isWithin(path, own)))
    .filter(({ path }) => plan.accessAt(path) !== 'none')
    .flatMap(({ path }) => hide(path));
  return hidden.length === 0 ? plan : { ...plan, mounts: [...plan.mounts, ...hidden] };
}

/**
 * Makes kernel interfaces read-only where everything else is writable: for root without capabilities they are a way to
 * run code outside, and to move into a control group without limits.
 */
export function withFixedKernelMounts(plan: MountPlan): MountPlan {
  if (plan.base !== 'unrestricted') return plan;
  const places = parseMountTable(mountTable())
    .filter(
      ({ path, type }) =>
        KERNEL_TYPES.includes(type) && !['/proc', '/sys'].some((own) => isWithin(path, own)),
    )
    .map(({ path }) => path);
  const fixed = ['/sys', ...places].filter((path) => existsSync(path));
  const mounts = fixed.map((path) => ({ kind: 'readOnly', path }) as const);
  return { ...plan, mounts: [...plan.mounts, ...mounts] };
}

/** Empty if the path is not visible because another mount covers it. */
function hide(path: string): Mount[] {
  try {
    return lstatSync(path).isDirectory()
      ? [{ kind: 'hiddenDirectory', path, traversable: false }]
      : [{ kind: 'hiddenFile', path }];
  } catch {
    return [];
  }
}

/** Everything mounted for us, as a text to compare. */
export function mountTable(): string {
  return readFileSync('/proc/self/mountinfo', 'utf8');
}

/** The mounts another process sees, later ones covering earlier ones. Throws if it is gone. */
export function mountsOf(pid: number): readonly MountedPlace[] {
  return parseMountTable(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
}

/** The optional fields before the dash describe propagation; the type is the first field after it. */
export function parseMountTable(table: string): MountedPlace[] {
  const lines = table.trim().split('\n');
  return lines.map((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const [, , device = '', root = '', path = '', options = '', ...optional] = before.split(' ');
    return {
      path: unescape(path),
      device,
      root: unescape(root),
      type: after.split(' ')[0] ?? '',
      options: options.split(','),
      propagates: optional.some((field) => /^(shared|master):/.test(field)),
    };
  });
}

/** Spaces, newlines and backslashes are written as three octal digits. */
function unescape(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
