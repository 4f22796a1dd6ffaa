import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { bootTicks } from '../kernel/index.js';
import { look } from './process-scan.js';

/**
 * Children started through Node by other code in this process. They look like orphans we adopted, and what they leave
 * behind looks as if one of our trees had left it.
 */

interface Lifetime {
  readonly startTick: number;
  endTick: number;
}

/** Anything left by children that ended long ago is older than whatever runs now. */
const MAX_LIFETIMES = 256;

const running = new Set<number>();
const lifetimes: Lifetime[] = [];
let tracking = false;

/** From here on such children are distinguished from orphans. */
export function trackForeignChildren(): void {
  if (tracking) return;
  tracking = true;
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess };
    // The event comes before the child is started. On a busy machine the child may have had children of its own, and
    // ended, by the time we look at it.
    const startTick = bootTicks() - 1;
    queueMicrotask(() => track(child, startTick));
  });
}

export function isForeignChild(pid: number): boolean {
  return running.has(pid);
}

/**
 * True if a process started at that time may descend from such a child. A child that stayed in our own session has
 * descendants there, too, so it needs no record.
 */
export function mayBeForeign(startTick: number): boolean {
  return lifetimes.some((each) => each.startTick <= startTick && startTick <= each.endTick);
}

function track(child: ChildProcess, startTick: number): void {
  const { pid } = child;
  if (pid === undefined) return;
  running.add(pid);
  const lifetime = leadsSession(pid) ? { startTick, endTick: Infinity } : null;
  if (lifetime) lifetimes.push(lifetime);
  if (lifetimes.length > MAX_LIFETIMES) lifetimes.shift();
  child.once('exit', () => {
    running.delete(pid);
    if (lifetime) lifetime.endTick = bootTicks() + 1;
  });
}

function leadsSession(pid: number): boolean {
  const seen = look(pid);
  return seen === null || seen.session === pid;
}
