import { readFileSync } from 'node:fs';
import type { SignalName } from '../../../contract/index.js';

/** Places of the fields behind the name in `/proc/PID/stat`. */
const STATE = 0;
const SESSION = 3;
const FLAGS = 6;

/** The kernel's mark for a process that was forked and has not executed a program since. */
const FORKED_WITHOUT_EXEC = 0x40;

/** Children are listed oldest first: the command comes before every orphan the first process inherits. */
export function firstChildOf(pid: number): number | null {
  const [first] = readProc(`${pid}/task/${pid}/children`).split(' ');
  return first ? Number(first) : null;
}

/** Whether it runs a program of its own by now, not a copy of its parent. */
export function hasExecuted(pid: number): boolean {
  const flags = fieldsOf(pid)[FLAGS];
  return flags !== undefined && (Number(flags) & FORKED_WITHOUT_EXEC) === 0;
}

/** By a signal, until it is told to go on. */
export function isStopped(pid: number): boolean {
  return fieldsOf(pid)[STATE] === 'T';
}

export function leadsSession(pid: number): boolean {
  return fieldsOf(pid)[SESSION] === String(pid);
}

/** A dead process whose parent has not looked yet still has a number; it runs nothing and nothing below it does. */
export function isAlive(pid: number): boolean {
  const state = fieldsOf(pid)[STATE];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** False if there is nobody to get it. A negative number means a group. */
export function send(pid: number, signal: SignalName): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** What follows the name in parentheses, which may itself contain anything. */
function fieldsOf(pid: number): string[] {
  const text = readProc(`${pid}/stat`);
  return text === '' ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readProc(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'utf8');
  } catch {
    return '';
  }
}
