import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { errnoOf } from './errno.js';

/** What `/proc/PID/stat` says of a process, as far as anybody here asks. */
export interface ProcessStat {
  /** One letter: `R` runs, `S` sleeps, `T` is stopped, `Z` and `X` are dead. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The kernel's own marks, `PF_…`. */
  readonly flags: number;
  /** In clock ticks since the machine started. With the pid it names a process for good. */
  readonly startTick: number;
}

/** Why a process could not be looked at: there is none, or no descriptor or memory for it. */
export type Unseen = 'gone' | 'unreadable';

export function isUnseen(found: unknown): found is Unseen {
  return found === 'gone' || found === 'unreadable';
}

export function readStat(pid: number | string): ProcessStat | Unseen {
  const text = slurp(`/proc/${pid}/stat`);
  return isUnseen(text) ? text : parseStat(text);
}

/** The same for those who need not know why there is nothing to see. */
export function statOf(pid: number | string): ProcessStat | null {
  const found = readStat(pid);
  return isUnseen(found) ? null : found;
}

/** Places of the fields behind the name. */
const FLAGS = 6;
const START = 19;

/** The program's name stands in parentheses and may contain anything; what follows the last one is regular. */
export function parseStat(text: string): ProcessStat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ', START + 1);
  const [state = '', parent, group, session] = fields;
  return {
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    flags: Number(fields[FLAGS]),
    startTick: Number(fields[START]),
  };
}

/** Dead, although its parent has not looked yet. It runs nothing and nothing below it does. */
export function isDead({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}

/** The text of `/proc/PID/limits`. */
export function readLimits(pid: number | string): string {
  return slurp(`/proc/${pid}/limits`);
}

/** The pids there are, as names. Null if that failed; none where there is no /proc. */
export function listPids(): string[] | null {
  try {
    return readdirSync('/proc').filter((name) => name >= '0' && name <= ':');
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? [] : null;
  }
}

/** The threads of a process, each as its directory. */
export function threadsOf(pid: number | string): string[] {
  const directory = `/proc/${pid}/task`;
  return namesIn(directory).map((thread) => `${directory}/${thread}`);
}

/** The children of one thread, oldest first. None where the kernel does not list them. */
export function childrenOf(thread: string): number[] {
  try {
    return readFileSync(`${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Nothing where it cannot be listed. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Where a link leads; empty if it cannot be read. */
export function linkTarget(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

/** Both files are below 2 KiB. */
const buffer = Buffer.alloc(4096);

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
