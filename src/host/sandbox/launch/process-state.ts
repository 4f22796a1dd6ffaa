import type { SignalName } from '../../../contract/index.js';
import { childrenOf, isDead, statOf } from '../../kernel/index.js';

/** The kernel's mark for a process that was forked and has not executed a program since. */
const FORKED_WITHOUT_EXEC = 0x40;

/** Children are listed oldest first: the command comes before every orphan the first process inherits. */
export function firstChildOf(pid: number): number | null {
  return childrenOf(`/proc/${pid}/task/${pid}`)[0] ?? null;
}

/** Whether it runs a program of its own by now, not a copy of its parent. */
export function hasExecuted(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== null && (stat.flags & FORKED_WITHOUT_EXEC) === 0;
}

/** By a signal, until it is told to go on. */
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

/** False if there is nobody to get it. A negative number means a group. */
export function send(pid: number, signal: SignalName): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
