import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { linkTarget, namesIn, statOf } from '../../kernel/index.js';

/**
 * Control groups outlive the server that made them, so a later server may find one of the same name. The name therefore
 * identifies its owner by pid namespace, pid and start time, a combination that never recurs.
 */

const PREFIX = 'execwire-';

/** How many leftover names to step over; more than that means something else is wrong. */
const MAX_TAKEN = 1000;

/** A group can be removed a moment after its last process is gone; if not, we try again on exit. */
const REMOVE_ATTEMPTS = 50;
const REMOVE_RETRY_MS = 10;

let groups = 0;
const tidied = new Set<string>();
/** Groups that cannot be removed yet. */
const leaving = new Set<string>();

/** Makes an empty group with a unique name. */
export function makeGroup(hierarchy: string): string {
  removeLeftovers(hierarchy);
  for (let taken = 0; ; taken += 1) {
    groups += 1;
    const path = join(hierarchy, `${ownPrefix()}${groups}`);
    try {
      mkdirSync(path);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || taken === MAX_TAKEN) throw error;
    }
  }
}

/** Removes a group as soon as it is empty. */
export function removeGroup(path: string): void {
  if (leaving.size === 0) process.once('exit', removeLeaving);
  leaving.add(path);
  removeSoon(path, REMOVE_ATTEMPTS);
}

/** Removes what killed servers left behind. Once per hierarchy; groups with members stay. */
export function removeLeftovers(hierarchy: string): void {
  if (tidied.has(hierarchy)) return;
  tidied.add(hierarchy);
  for (const name of namesIn(hierarchy))
    if (name.startsWith(PREFIX) && isLeftover(name)) remove(join(hierarchy, name));
}

function removeSoon(path: string, attempts: number): void {
  if (remove(path)) {
    leaving.delete(path);
    if (leaving.size === 0) process.off('exit', removeLeaving);
  } else if (attempts > 1) {
    setTimeout(() => removeSoon(path, attempts - 1), REMOVE_RETRY_MS).unref();
  }
}

function removeLeaving(): void {
  for (const path of leaving) remove(path);
}

/** True also if it was already gone. */
function remove(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/**
 * True if its maker would be visible from here and is gone. A server in another namespace may be alive: its groups are
 * not ours to judge.
 */
function isLeftover(name: string): boolean {
  const [, namespace, pid, start] = /^execwire-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? [];
  if (pid === undefined) return isOldLeftover(name);
  return namespace === pidNamespace() && String(statOf(pid)?.startTick) !== start;
}

/** From releases whose names contained only the pid. */
function isOldLeftover(name: string): boolean {
  const [, pid] = /^execwire-(\d+)-\d+$/.exec(name) ?? [];
  return pid !== undefined && (pid === String(process.pid) || statOf(pid) === null);
}

let prefix: string | undefined;

function ownPrefix(): string {
  prefix ??= `${PREFIX}${pidNamespace()}-${process.pid}-${statOf('self')?.startTick}-`;
  return prefix;
}

function pidNamespace(): string {
  return /\d+/.exec(linkTarget('/proc/self/ns/pid'))?.[0] ?? '0';
}
