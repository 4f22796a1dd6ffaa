import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { errnoOf } from './spawn-failure.js';
import { inheritedMark, isChildMark, treeOfMark, readMark } from './tree-mark.js';

/** One running process of the machine, as far as trees are concerned. Zombies are not running. */
export interface ScannedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Whose tree it is marked as, if it is one of this server's. */
  readonly owner: number | null;
  /** Watches over a server; it ends with its server, after it has ended what that left behind. */
  readonly watchdog: boolean;
}

export interface Scan {
  readonly processes: ScannedProcess[];
  /** Some process ended while we looked: it may have left a child we did not see. */
  readonly unsettled: boolean;
  /** Some process could not be looked at, for want of descriptors: the scan proves nothing. */
  readonly incomplete: boolean;
}

/** Both files are below 2 KiB. */
const buffer = Buffer.alloc(4096);

/** Looks at every process of the machine: about 16 us each. Yields now and then so that others can run. */
export function* scanSteps(): Generator<void, Scan> {
  const STEP = 128;
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
  return { processes, unsettled, incomplete: incomplete || names === null };
}

/** The same in one go. */
export function scanNow(): Scan {
  const steps = scanSteps();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
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

function inspect(name: string): ScannedProcess | Unseen | null {
  const stat = slurp(`/proc/${name}/stat`);
  if (isUnseen(stat)) return stat;
  // The program's name stands in parentheses and may contain anything; what follows the last one is regular.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4);
  if (state === 'Z' || state === 'X' || Number(parent) === KERNEL_THREADS) return null;
  const limits = slurp(`/proc/${name}/limits`);
  if (isUnseen(limits)) return limits;
  const mark = readMark(limits);
  const owner = mark === null ? null : treeOfMark(mark);
  return {
    pid: Number(name),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    owner,
    watchdog: mark !== null && !isChildMark(mark),
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
