import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { errnoOf } from './errno.js';

/** The fields of `/proc/PID/stat` that we use. */
export interface ProcessStat {
  /** One letter: `R` running, `S` sleeping, `T` stopped, `Z` and `X` dead. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Kernel flags, `PF_…`. */
  readonly flags: number;
  /** In clock ticks since boot. Together with the pid it identifies a process uniquely. */
  readonly startTick: number;
}

/** Why a process could not be inspected: it is gone, or we lack descriptors or memory. */
export type Unseen = 'gone' | 'unreadable';

export function isUnseen(found: unknown): found is Unseen {
  return found === 'gone' || found === 'unreadable';
}

export function readStat(pid: number | string): ProcessStat | Unseen {
  const text = slurp(`/proc/${pid}/stat`);
  return isUnseen(text) ? text : parseStat(text);
}

/** Like `readStat`, for callers that do not care why there is no result. */
export function statOf(pid: number | string): ProcessStat | null {
  const found = readStat(pid);
  return isUnseen(found) ? null : found;
}

/** Field positions, counted from after the name. */
const FLAGS = 6;
const START = 19;

/** The program name is in parentheses and may contain anything, so parsing starts after the last one. */
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

/** Dead, perhaps not reaped yet. It runs nothing and has no children. */
export function isDead({ state }: ProcessStat): boolean {
  return state === 'Z' || state === 'X';
}

/** The text of `/proc/PID/limits`. */
export function readLimits(pid: number | string): string {
  return slurp(`/proc/${pid}/limits`);
}

/** All pids, as text. Null if listing failed; empty without a /proc. */
export function listPids(): string[] | null {
  try {
    return readdirSync('/proc').filter((name) => name >= '0' && name <= ':');
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? [] : null;
  }
}

/** The threads of a process, each as its directory in /proc. */
export function threadsOf(pid: number | string): string[] {
  const directory = `/proc/${pid}/task`;
  return namesIn(directory).map((thread) => `${directory}/${thread}`);
}

/** The children of one thread, oldest first. Empty if the kernel does not list them. */
export function childrenOf(thread: string): number[] {
  try {
    return readFileSync(`${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** Empty if the directory cannot be listed. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** The target of a symbolic link; empty if it cannot be read. */
export function linkTarget(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

/** Both files are smaller than 2 KiB. */
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
