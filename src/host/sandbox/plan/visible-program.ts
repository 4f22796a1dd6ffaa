import { closeSync, constants, openSync, readSync } from 'node:fs';
import { findProgram, mayExecute, type ProgramVerdict, spawnFailures } from '../../kernel/index.js';
import type { Disk } from './disk.js';
import type { MountPlan } from './mount-plan.js';

/** How much of a script the kernel examines for its interpreter. */
const SCRIPT_HEAD_BYTES = 256;

/** What a process will see, for questions asked before it exists. */
export interface View {
  readonly plan: MountPlan;
  readonly disk: Disk;
}

/** The working directory must exist inside; throws the same errors as without a sandbox. */
export function checkCwd(cwd: string, view: View): void {
  const place = visiblePlace(cwd, view);
  if (place === 'missing') throw spawnFailures.noCwd(cwd);
  if (place === 'file') throw spawnFailures.cwdNotADirectory(cwd);
}

/**
 * The file to execute, looked up in the PATH of the process and as the process will see it. bubblewrap can only report
 * a program it cannot start as an exit code, so everything is checked in advance.
 */
export function locateVisibleProgram(
  { argv, cwd, env }: { argv: readonly string[]; cwd: string; env: Readonly<Record<string, string>> },
  view: View,
): string {
  const name = argv[0] ?? '';
  if (name === '') throw spawnFailures.emptyName();
  const isPath = name.includes('/');
  const found = findProgram({ name, cwd, path: env.PATH }, (path) => judgeVisible(path, { view, isPath }));
  if (found === null) throw spawnFailures.noProgram(name);
  const { path, verdict } = found;
  if (verdict === 'denied') throw spawnFailures.notMarked(name);
  checkInterpreter(path, { name, view });
  return path;
}

/** In PATH a directory is skipped; given by path, it is a program that cannot be run. */
function judgeVisible(path: string, { view, isPath }: { view: View; isPath: boolean }): ProgramVerdict {
  const place = visiblePlace(path, view);
  if (place === 'missing' || (place === 'directory' && !isPath)) return 'absent';
  return place === 'file' && mayExecute(reached(path, view)) ? 'runnable' : 'denied';
}

/** Where we find it, with links resolved as the process will resolve them. */
function reached(path: string, { disk }: View): string {
  return disk.reach?.(disk.resolve(path).path) ?? path;
}

function visiblePlace(path: string, { plan, disk }: View): 'file' | 'directory' | 'missing' {
  const place = disk.resolve(path);
  const made = (link: string) => plan.mounts.some((mount) => mount.kind === 'link' && mount.path === link);
  const reachable = place.links.every((link) => plan.accessAt(link.path) !== 'none' || made(link.path));
  const shown = plan.accessAt(place.path) !== 'none' || leadsSomewhere(place.path, plan);
  return reachable && shown ? place.kind : 'missing';
}

/** The directories on the way to a visible place exist inside, otherwise empty. So does the root. */
function leadsSomewhere(path: string, { mounts }: MountPlan): boolean {
  return (
    path === '/' || mounts.some((mount) => mount.kind !== 'hiddenFile' && mount.path.startsWith(`${path}/`))
  );
}

/** True if a process could execute it. */
export function isRunnable(path: string, view: View): boolean {
  return visiblePlace(path, view) === 'file' && mayExecute(reached(path, view));
}

function checkInterpreter(path: string, { name, view }: { name: string; view: View }): void {
  const head = headOf(reached(path, view));
  if (head === null || head.startsWith('\x7fELF')) return;
  const interpreter = /^#![ \t]*([^ \t\n]+)/.exec(head)?.[1];
  if (interpreter === undefined) throw spawnFailures.notAProgram(name);
  if (!isRunnable(interpreter, view)) throw spawnFailures.noInterpreter(name);
}

/** Null if not readable, which does not keep it from being executable. */
function headOf(path: string): string | null {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const head = Buffer.alloc(SCRIPT_HEAD_BYTES);
      return head.toString('latin1', 0, readSync(fd, head, 0, SCRIPT_HEAD_BYTES, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}
