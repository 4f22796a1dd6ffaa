import { closeSync, openSync, readSync } from 'node:fs';
import { inheritedMark } from './tree-mark.js';
import { libc, linux, loadLibc } from '../kernel/index.js';
import { isSubreaper } from './orphans.js';
import { randomBytes } from '../kernel/random.js';

/**
 * The mark does not survive `su` and similar programs, which reset all limits. Timer slack does. The default is 50
 * microseconds; each of our children gets a few nanoseconds less, a number that identifies its tree. The range is too
 * small to recognize a tree among all processes of the machine, but it tells which tree an orphan belongs to once the
 * orphan has become our child.
 */

/** The kernel's default, in nanoseconds. A process with any other value is in some tree already, or had it set. */
const DEFAULT_NS = 50_000;
/** Never above the default, and never low enough to cost anything. */
const NUMBERS = 2 ** 15;

const buffer = Buffer.alloc(32);
/** The slack of tree 0; null if slack cannot be used. */
let first: number | null | undefined;
/** The slack of tree 0 in an earlier server. */
let inherited: number | undefined;

/** A random choice for the slack of tree 0. */
export function createSlack(): number {
  return randomBytes(2).readUInt16BE(0);
}

/** Continues with the numbers of an earlier server. */
export function inheritSlack(slack: number): void {
  inherited = slack;
}

/** The slack that identifies this tree; 0 if slack cannot be used. */
export function slackOf(treeId: number): number {
  if (!isSubreaper()) return 0;
  if (first === undefined) first = isUseful() ? (inherited ?? createSlack()) : null;
  return first === null ? 0 : DEFAULT_NS - 1 - ((first + treeId) % NUMBERS);
}

/** Runs `spawn` while our own slack is the tree's. Synchronous, so no timer of ours is set meanwhile. */
export function withSlack<T>(treeId: number, spawn: () => T): T {
  const number = slackOf(treeId);
  if (number === 0) return spawn();
  const { prctl } = libc();
  prctl(linux.PR_SET_TIMERSLACK, number, 0, 0, 0);
  try {
    return spawn();
  } finally {
    prctl(linux.PR_SET_TIMERSLACK, DEFAULT_NS, 0, 0, 0);
  }
}

/** True if it can be the slack of a tree. */
export function isTreeNumber(slack: number): boolean {
  return slackOf(0) !== 0 && slack < DEFAULT_NS && slack >= DEFAULT_NS - NUMBERS;
}

/** The slack of a process, if it can identify a tree. */
export function readSlack(pid: number): number | 'none' | 'unreadable' {
  let fd = -1;
  try {
    fd = openSync(`/proc/${pid}/timerslack_ns`, 'r');
    const number = Number(buffer.toString('latin1', 0, readSync(fd, buffer)));
    return number === DEFAULT_NS ? 'none' : number;
  } catch {
    return 'unreadable';
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}

/**
 * Reading the slack of other processes takes CAP_SYS_NICE. Inside a tree of another server the slack is that server's.
 */
function isUseful(): boolean {
  if (loadLibc()?.prctl(linux.PR_GET_TIMERSLACK, 0, 0, 0, 0) !== DEFAULT_NS || inheritedMark() !== null)
    return false;
  return readSlack(1) !== 'unreadable';
}
