import { closeSync, openSync, readSync } from 'node:fs';
import { inheritedMark } from './tree-mark.js';
import { libc, linux, loadLibc } from '../kernel/index.js';
import { isSubreaper } from './orphans.js';
import { randomBytes } from '../kernel/random.js';

/*
 * The mark does not survive `su` and its like, which set all limits anew. How late a timer may fire does: by default 50
 * microseconds, and a child of ours gets a few nanoseconds less, a number of its tree. That is too small a number to know a
 * tree by among all processes of the machine; but it tells to which tree an orphan belongs that has become our child.
 */

/** The kernel's default, in nanoseconds. Whoever has another one is in somebody's tree already, or was told so. */
const DEFAULT_NS = 50_000;
/** No child is later than by default, and none so punctual that it costs. */
const NUMBERS = 2 ** 15;

const buffer = Buffer.alloc(32);
/** The number of tree 0; null where none is of use. */
let first: number | null | undefined;

/** The number that this tree hands on; 0 where it is of no use. */
export function slackOf(treeId: number): number {
  if (!isSubreaper()) return 0;
  if (first === undefined) first = isUseful() ? randomBytes(2).readUInt16BE(0) : null;
  return first === null ? 0 : DEFAULT_NS - 1 - ((first + treeId) % NUMBERS);
}

/** Runs `spawn` while our own number is that of the tree. Synchronous, so no timer of ours is set meanwhile. */
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

/** Whether it can be the number of a tree. */
export function isTreeNumber(slack: number): boolean {
  return slackOf(0) !== 0 && slack < DEFAULT_NS && slack >= DEFAULT_NS - NUMBERS;
}

/** What a process carries: the number of a tree, nothing of ours, or unreadable. */
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

/** Reading that of others takes CAP_SYS_NICE. In a tree of another server the number is that server's. */
function isUseful(): boolean {
  if (loadLibc()?.prctl(linux.PR_GET_TIMERSLACK, 0, 0, 0, 0) !== DEFAULT_NS || inheritedMark() !== null)
    return false;
  return readSlack(1) !== 'unreadable';
}
