import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  isDead,
  isUnseen,
  listPids,
  parseStat,
  type ProcessStat,
  readLimits,
  readStat,
  statOf,
  type Unseen,
} from '../kernel/index.js';
import { inheritedMark, isChildMark, treeOfMark, readMark } from './tree-mark.js';

/** One running process of the machine, as far as trees are concerned. Zombies are not running. */
export interface ScannedProcess extends Pick<ProcessStat, 'parent' | 'group' | 'session' | 'startTick'> {
  readonly pid: number;
  /** Whose tree it is marked as, if it is one of this server's. */
  readonly treeId: number | null;
  /** Carries no mark of any server, though it is young enough to have lost one. */
  readonly unmarked: boolean;
  /** Watches over a server; it ends with its server, after it has ended what that left behind. */
  readonly watchdog: boolean;
}

export interface Scan {
  /** By the clock of `performance`. */
  readonly beganAt: number;
  readonly processes: ScannedProcess[];
  /** Some process ended while we looked: it may have left a child we did not see. */
  readonly unsettled: boolean;
  /** Some process could not be looked at, for want of descriptors: the scan proves nothing. */
  readonly incomplete: boolean;
}

/** Looks at every process of the machine: 8 to 16 us each. Yields now and then so that others can run. */
function* scanSteps(): Generator<void, Scan> {
  const STEP = 128;
  const beganAt = performance.now();
  const processes: ScannedProcess[] = [];
  let unsettled = false;
  let incomplete = false;
  const names = listPids();
  for (const [index, name] of (names ?? []).entries()) {
    if (index % STEP === STEP - 1) yield;
    const found = inspect(name);
    if (found === 'gone') unsettled = true;
    else if (found === 'unreadable') incomplete = true;
    else if (found !== null) processes.push(found);
  }
  return { beganAt, processes, unsettled, incomplete: incomplete || names === null };
}

/** The same in one go. */
export function scanNow(): Scan {
  const steps = scanSteps();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The same with pauses for everybody else. */
export async function scanWithBreaks(): Promise<Scan> {
  const steps = scanSteps();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await nextTurn();
  }
}

/** Looks at one process; null if it does not run. */
export function look(pid: number): ScannedProcess | null {
  const found = inspect(String(pid));
  return found === null || typeof found === 'string' ? null : found;
}

/** Whether this is still the process that was seen, and not another one that was given its number. */
export function isSame({ pid, startTick }: Pick<ScannedProcess, 'pid' | 'startTick'>): boolean {
  return statOf(pid)?.startTick === startTick;
}

/** Whether some server has marked it, and not the one we ourselves run in. Works for zombies too. */
export function isMarked(pid: number): boolean {
  const mark = readMark(readLimits(pid));
  return mark !== null && mark !== inheritedMark();
}

const KERNEL_THREADS = 2;

let own: ProcessStat | undefined;

/** What the kernel says of this very process; a number of nobody where it cannot be asked. */
export function ownStat(): ProcessStat {
  own ??= statOf('self') ?? parseStat('');
  return own;
}

function inspect(name: string): ScannedProcess | Unseen | null {
  const stat = readStat(name);
  if (isUnseen(stat)) return stat;
  if (isDead(stat) || stat.parent === KERNEL_THREADS) return null;
  const { parent, group, session, startTick } = stat;
  const known = { pid: Number(name), parent, group, session, startTick };
  // Nobody who is older than we are can be of ours.
  if (startTick < ownStat().startTick) return { ...known, treeId: null, unmarked: false, watchdog: false };
  const limits = readLimits(name);
  if (isUnseen(limits)) return limits;
  const mark = readMark(limits);
  const treeId = mark === null ? null : treeOfMark(mark);
  return { ...known, treeId, unmarked: mark === null, watchdog: mark !== null && !isChildMark(mark) };
}
