import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { threadSleep } from './thread-sleep.js';

/** More threads than this wait for other things than a keyboard. */
const MAX_THREADS = 64;
/** Device number of /dev/tty, which stands for the controlling terminal. */
const CONTROLLING_TERMINAL = 0x500;
/**
 * A program that takes single keys and means to sleep longer than this waits for one: an editor that will look after
 * its swap file, a prompt with some timer. One that wakes sooner refreshes its screen, as top does every 3 seconds, or
 * turns a wheel while it works.
 */
const RESTLESS_MS = 3_000;

/** The terminal a reader is looked for at. */
export interface ReadTerminal {
  readonly device: number;
  /** Not in line mode: its program takes single keys. */
  readonly takesKeys: boolean;
}

/**
 * Tells whether a thread of a process sleeps until a terminal has input, and has nothing else to do meanwhile. Null
 * where the kernel keeps that to itself: the process belongs to somebody else, or hides.
 */
export function waitsForTerminal(pid: number, terminal: ReadTerminal): boolean | null {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).slice(0, MAX_THREADS);
    return threads.some((thread) => threadWaits(pid, thread, terminal));
  } catch (error) {
    return error instanceof Error && 'code' in error && ['EACCES', 'EPERM'].includes(String(error.code))
      ? null
      : false;
  }
}

function threadWaits(pid: number, thread: string, { device, takesKeys }: ReadTerminal): boolean {
  const sleep = threadSleep(pid, thread);
  // In line mode a time limit means that the program goes on without an answer.
  if (!sleep || sleep.limitMs <= (takesKeys ? RESTLESS_MS : Number.MAX_VALUE)) return false;
  return (
    sleep.descriptors.some((fd) => isTerminal(pid, fd, device)) && !listensElsewhere(pid, sleep.descriptors)
  );
}

function isTerminal(pid: number, fd: number, device: number): boolean {
  try {
    const { rdev } = statSync(`/proc/${pid}/fd/${fd}`);
    return rdev === device || rdev === CONTROLLING_TERMINAL;
  } catch {
    return false;
  }
}

/** A program that listens to a socket as well has something else to do, unless it only wakes itself with it. */
function listensElsewhere(pid: number, descriptors: readonly number[]): boolean {
  const sockets = descriptors.map((fd) => socketOf(pid, fd)).filter((inode) => inode !== null);
  if (sockets.length === 0) return false;
  const held = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => socketOf(pid, Number(fd))));
  const nameless = namelessSockets(pid);
  // The two ends of a socket pair are made in one go: their numbers are neighbours.
  const own = (inode: number): boolean => held.has(inode) && nameless.has(inode);
  return !sockets.every((inode) => own(inode) && (own(inode - 1) || own(inode + 1)));
}

/** Unix sockets that nobody can find by a path, as the ends of a pair are. */
function namelessSockets(pid: number): Set<number> {
  const table = readFileSync(`/proc/${pid}/net/unix`, 'latin1');
  return new Set([...table.matchAll(/ (\d+)$/gm)].map((match) => Number(match[1])));
}

function socketOf(pid: number, fd: number): number | null {
  try {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
    return inode === undefined ? null : Number(inode);
  } catch {
    return null;
  }
}
