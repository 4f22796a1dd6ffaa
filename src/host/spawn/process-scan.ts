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

/** One running process, as far as trees are concerned. Zombies do not count as running. */
export interface ScannedProcess extends Pick<ProcessStat, 'parent' | 'group' | 'session' | 'startTick'> {
  readonly pid: number;
  /** The tree its mark names, if the mark is from this server. */
  readonly treeId: number | null;
  /** Has no server's mark, though it started late enough to have lost one. */
  readonly unmarked: boolean;
  /** Guards a server; it ends after that server, once it has killed what the server left behind. */
  readonly watchdog: boolean;
}

export interface Scan {
  /** On the clock of `performance`. */
  readonly beganAt: number;
  readonly processes: ScannedProcess[];
  /** A process ended during the scan and may have left a child we did not see. */
  readonly unsettled: boolean;
  /** A process could not be inspected for lack of descriptors: the scan proves nothing. */
  readonly incomplete: boolean;
}

/** Inspects every process on the machine, 8 to 16 us each. Yields now and then so that others can run. */
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

/** Scans in one go. */
export function scanNow(): Scan {
  const steps = scanSteps();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Scans with pauses that let others run. */
export async function scanWithBreaks(): Promise<Scan> {
  const steps = scanSteps();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await nextTurn();
  }
}

/** Inspects one process; null if it is not running. */
export function look(pid: number): ScannedProcess | null {
  const found = inspect(String(pid));
  return found === null || typeof found === 'string' ? null : found;
}

/** True if this is still the process we saw, not another one that was given its pid. */
export function isSame({ pid, startTick }: Pick<ScannedProcess, 'pid' | 'startTick'>): boolean {
  return statOf(pid)?.startTick === startTick;
}

/** True if some server has marked it, other than the one we run inside. Works for zombies, too. */
export function isMarked(pid: number): boolean {
  const mark = readMark(readLimits(pid));
  return mark !== null && mark !== inheritedMark();
}

/** When the first server began whose trees are ours. */
let eldestTick: number | undefined;

/** Trees may be older than this process: earlier servers started them. */
export function inheritTrees(sinceTick: number): void {
  eldestTick = sinceTick;
}

const KERNEL_THREADS = 2;

let own: ProcessStat | undefined;

/** Our own entry in /proc; without one, a value that matches no process. */
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
  // A process older than us cannot be ours.
  if (startTick < (eldestTick ?? ownStat().startTick))
    return { ...known, treeId: null, unmarked: false, watchdog: false };
  const limits = readLimits(name);
  if (isUnseen(limits)) return limits;
  const mark = readMark(limits);
  const treeId = mark === null ? null : treeOfMark(mark);
  return { ...known, treeId, unmarked: mark === null, watchdog: mark !== null && !isChildMark(mark) };
}
