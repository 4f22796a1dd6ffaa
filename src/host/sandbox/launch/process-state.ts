import type { SignalName } from '../../../contract/index.js';
import { childrenOf, isDead, statOf } from '../../kernel/index.js';

/** The kernel's flag for a process that was forked and has not called exec since. */
const FORKED_WITHOUT_EXEC = 0x40;

/** Children are listed oldest first: the command precedes any orphan the first process adopts. */
export function firstChildOf(pid: number): number | null {
  return childrenOf(`/proc/${pid}/task/${pid}`)[0] ?? null;
}

/** True once it runs its own program rather than a copy of its parent. */
export function hasExecuted(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== null && (stat.flags & FORKED_WITHOUT_EXEC) === 0;
}

/** Stopped by a signal, until it is continued. */
export function isStopped(pid: number): boolean {
  return statOf(pid)?.state === 'T';
}

export function leadsSession(pid: number): boolean {
  return statOf(pid)?.session === pid;
}

export function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== null && !isDead(stat);
}

/** False if there is no such process. A negative pid means a group. */
export function send(pid: number, signal: SignalName): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
