import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from 'node:fs';

/** How a thread can sleep until a descriptor is readable, by system call number. */
type Sleep = 'read' | 'poll' | 'ppoll' | 'select' | 'epoll' | 'epoll2';

const SLEEPS: Readonly<Record<string, Readonly<Record<number, Sleep>>>> = {
  x64: {
    0: 'read',
    7: 'poll',
    19: 'read',
    23: 'select',
    232: 'epoll',
    270: 'select',
    271: 'ppoll',
    281: 'epoll',
    441: 'epoll2',
  },
  arm64: { 22: 'epoll', 63: 'read', 65: 'read', 72: 'select', 73: 'ppoll', 441: 'epoll2' },
};

/** More threads than this wait for other things than a keyboard. */
const MAX_THREADS = 64;
/** Larger sets are servers'. */
const MAX_WATCHED = 1024;
const POLLFD_BYTES = 8;
const POLLIN = 1;
/** Device number of /dev/tty, which stands for the controlling terminal. */
const CONTROLLING_TERMINAL = 0x500;

/**
 * Tells whether a thread of a process sleeps, without a time limit, until a terminal has input. Null where the
 * kernel keeps that to itself: the process belongs to somebody else, or hides.
 */
export function waitsForTerminal(pid: number, terminalDevice: number): boolean | null {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).slice(0, MAX_THREADS);
    return threads.some((thread) => threadWaits(pid, thread, terminalDevice));
  } catch (error) {
    return error instanceof Error && 'code' in error && ['EACCES', 'EPERM'].includes(String(error.code))
      ? null
      : false;
  }
}

function threadWaits(pid: number, thread: string, terminalDevice: number): boolean {
  const [number, ...rest] = readFileSync(`/proc/${pid}/task/${thread}/syscall`, 'latin1').split(' ');
  const sleep = SLEEPS[process.arch]?.[Number(number)];
  if (sleep === undefined) return false;
  const watched = watchedDescriptors(pid, sleep, rest.map(Number));
  // A program that listens to the network as well has something else to do.
  return (
    watched.some((fd) => isTerminal(pid, fd, terminalDevice)) && !watched.some((fd) => isSocket(pid, fd))
  );
}

function watchedDescriptors(pid: number, sleep: Sleep, args: readonly number[]): number[] {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = args;
  switch (sleep) {
    case 'read':
      return [a];
    case 'poll':
      return isForEver(c) ? polledDescriptors(pid, a, b) : [];
    case 'ppoll':
      return c === 0 ? polledDescriptors(pid, a, b) : [];
    case 'select':
      return e === 0 ? selectedDescriptors(pid, a, b) : [];
    case 'epoll':
      return isForEver(d) ? registeredDescriptors(pid, a) : [];
    case 'epoll2':
      return d === 0 ? registeredDescriptors(pid, a) : [];
  }
}

/** -1 as an int in a 64-bit register, with or without its sign extended. */
function isForEver(timeout: number): boolean {
  return timeout >= 0xffff_ffff;
}

function polledDescriptors(pid: number, address: number, count: number): number[] {
  const entries = readMemory(pid, address, Math.min(count, MAX_WATCHED) * POLLFD_BYTES);
  const found: number[] = [];
  for (let at = 0; at + POLLFD_BYTES <= entries.length; at += POLLFD_BYTES) {
    if (entries.readInt16LE(at + 4) & POLLIN) found.push(entries.readInt32LE(at));
  }
  return found;
}

function selectedDescriptors(pid: number, count: number, address: number): number[] {
  if (address === 0) return [];
  const bits = readMemory(pid, address, Math.ceil(Math.min(count, MAX_WATCHED) / 8));
  return Array.from({ length: bits.length * 8 }, (_, fd) => fd).filter(
    (fd) => (bits[fd >> 3] ?? 0) & (1 << (fd & 7)),
  );
}

function registeredDescriptors(pid: number, epoll: number): number[] {
  const info = readFileSync(`/proc/${pid}/fdinfo/${epoll}`, 'latin1');
  return [...info.matchAll(/^tfd:\s*(\d+)/gm)].map((match) => Number(match[1]));
}

function readMemory(pid: number, address: number, length: number): Buffer {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(memory, buffer, 0, length, address));
  } finally {
    closeSync(memory);
  }
}

function isTerminal(pid: number, fd: number, terminalDevice: number): boolean {
  try {
    const { rdev } = statSync(`/proc/${pid}/fd/${fd}`);
    return rdev === terminalDevice || rdev === CONTROLLING_TERMINAL;
  } catch {
    return false;
  }
}

function isSocket(pid: number, fd: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:');
  } catch {
    return false;
  }
}
