import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { threadSleep } from './thread-sleep.js';

/** A process with more threads than this is waiting for something other than a keyboard. */
const MAX_THREADS = 64;
/** Device number of /dev/tty, which refers to the controlling terminal. */
const CONTROLLING_TERMINAL = 0x500;
/**
 * A program that reads single keys and sleeps longer than this is waiting for a key: an editor with a timer for its
 * swap file, a prompt with some timeout. One that wakes sooner is refreshing its screen, as top does every 3 seconds,
 * or spinning a progress indicator.
 */
const REFRESH_MS = 3_000;

/** The terminal whose reader we are looking for. */
export interface ReadTerminal {
  readonly device: number;
  /** Not in line mode: the program reads single keys. */
  readonly takesKeys: boolean;
}

/**
 * True if a thread of the process sleeps until the terminal has input and waits for nothing else. Null if the kernel
 * will not tell us, because the process belongs to another user or is not dumpable.
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
  // In line mode a timeout means the program will carry on without an answer.
  if (!sleep || sleep.limitMs <= (takesKeys ? REFRESH_MS : Number.MAX_VALUE)) return false;
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

/** A program that also waits on a socket has other work, unless the socket only serves to wake itself. */
function listensElsewhere(pid: number, descriptors: readonly number[]): boolean {
  const sockets = descriptors.map((fd) => socketOf(pid, fd)).filter((inode) => inode !== null);
  if (sockets.length === 0) return false;
  const held = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => socketOf(pid, Number(fd))));
  const nameless = namelessSockets(pid);
  // Both ends of a socket pair are created together, so their inode numbers are adjacent.
  const own = (inode: number): boolean => held.has(inode) && nameless.has(inode);
  return !sockets.every((inode) => own(inode) && (own(inode - 1) || own(inode + 1)));
}

/** Unix sockets without a path, such as the ends of a pair. */
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
