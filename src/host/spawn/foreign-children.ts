import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { bootTicks } from '../kernel/index.js';
import { look } from './process-scan.js';

/*
 * Children that somebody else in this process started, through Node. They look like orphans we have adopted, and what they
 * leave behind looks as if one of our trees had left it.
 */

interface Lifetime {
  readonly startTick: number;
  endTick: number;
}

/** Those who ended long ago have left nothing that is not older than what runs now. */
const MAX_LIFETIMES = 256;

const running = new Set<number>();
const lifetimes: Lifetime[] = [];
let noticing = false;

/** From here on they are told from orphans. */
export function noticeForeignChildren(): void {
  if (noticing) return;
  noticing = true;
  subscribe('child_process', (message) => {
    const { process: child } = message as { process: ChildProcess };
    // It is told of before it is started.
    queueMicrotask(() => notice(child));
  });
}

export function isForeignChild(pid: number): boolean {
  return running.has(pid);
}

/** Whether something that began then may be of theirs. Who stayed in our own session has children that are in it, too. */
export function mayBeForeign(startTick: number): boolean {
  return lifetimes.some((each) => each.startTick <= startTick && startTick <= each.endTick);
}

function notice(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  running.add(pid);
  const lifetime = leadsSession(pid) ? { startTick: bootTicks() - 1, endTick: Infinity } : null;
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
