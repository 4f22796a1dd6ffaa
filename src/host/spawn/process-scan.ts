import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errnoOf } from './spawn-failure.js';
import { inheritedMark, isChildMark, treeOfMark, readMark } from './tree-mark.js';

/** One running process of the machine, as far as trees are concerned. Zombies are not running. */
export interface ScannedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In clock ticks since the machine started. With the number it names a process for good. */
  readonly startTick: number;
  /** Whose tree it is marked as, if it is one of this server's. */
  readonly owner: number | null;
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

/** Both files are below 2 KiB. */
const buffer = Buffer.alloc(4096);

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
  const stat = slurp(`/proc/${pid}/stat`);
  return !isUnseen(stat) && fieldsOf(stat).startTick === startTick;
}

/** Whether some server has marked it, and not the one we ourselves run in. Works for zombies too. */
export function isMarked(pid: number): boolean {
  const mark = readMark(slurp(`/proc/${pid}/limits`));
  return mark !== null && mark !== inheritedMark();
}

/** Null if that failed; nobody at all where there is no /proc. */
function listPids(): string[] | null {
  try {
    return readdirSync('/proc').filter((name) => name >= '0' && name <= ':');
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? [] : null;
  }
}

/** Why a process could not be looked at. */
type Unseen = 'gone' | 'unreadable';

const KERNEL_THREADS = 2;

let own: StatFields | undefined;

/** What the kernel says of this very process. */
export function ownFields(): StatFields {
  own ??= fieldsOf(slurp('/proc/self/stat'));
  return own;
}

function inspect(name: string): ScannedProcess | Unseen | null {
  const stat = slurp(`/proc/${name}/stat`);
  if (isUnseen(stat)) return stat;
  const { state, ...fields } = fieldsOf(stat);
  if (state === 'Z' || state === 'X' || fields.parent === KERNEL_THREADS) return null;
  const known = { pid: Number(name), ...fields };
  // Nobody who is older than we are can be of ours.
  if (fields.startTick < ownFields().startTick)
    return { ...known, owner: null, unmarked: false, watchdog: false };
  const limits = slurp(`/proc/${name}/limits`);
  if (isUnseen(limits)) return limits;
  const mark = readMark(limits);
  const owner = mark === null ? null : treeOfMark(mark);
  return { ...known, owner, unmarked: mark === null, watchdog: mark !== null && !isChildMark(mark) };
}

interface StatFields extends Pick<ScannedProcess, 'parent' | 'group' | 'session' | 'startTick'> {
  readonly state: string;
}

/** The program's name stands in parentheses and may contain anything; what follows the last one is regular. */
function fieldsOf(stat: string): StatFields {
  const START = 19;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', START + 1);
  const [state = '', parent, group, session] = fields;
  return {
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTick: Number(fields[START]),
  };
}

function isUnseen(text: string): text is Unseen {
  return text === 'gone' || text === 'unreadable';
}

function slurp(path: string): string {
  let fd = -1;
  try {
    fd = openSync(path, 'r');
    return buffer.toString('latin1', 0, readSync(fd, buffer));
  } catch (error) {
    return ['EMFILE', 'ENFILE', 'ENOMEM'].includes(errnoOf(error)) ? 'unreadable' : 'gone';
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}
