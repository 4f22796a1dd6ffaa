import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { linux } from '../kernel/index.js';

/** What a sleeping thread is waiting for. */
export interface ThreadSleep {
  /** Descriptors whose input would wake it. */
  readonly descriptors: readonly number[];
  /** When it wakes in any case, in milliseconds after it fell asleep. Infinity if it has no timeout. */
  readonly limitMs: number;
}

/** Calls in which a thread sleeps until a descriptor is readable, by system call number. */
type Call = 'read' | 'poll' | 'ppoll' | 'select' | 'pselect' | 'epoll' | 'epoll2';

const CALLS: Readonly<Record<string, Readonly<Record<number, Call>>>> = {
  x64: {
    0: 'read',
    7: 'poll',
    19: 'read',
    23: 'select',
    232: 'epoll',
    270: 'pselect',
    271: 'ppoll',
    281: 'epoll',
    441: 'epoll2',
  },
  arm64: { 22: 'epoll', 63: 'read', 65: 'read', 72: 'pselect', 73: 'ppoll', 441: 'epoll2' },
};

/** Only servers watch larger sets. */
const MAX_WATCHED = 1024;
const POLLFD_BYTES = 8;
const TIME_BYTES = 16;

/** Finds out from the kernel what a thread is sleeping on. Null if it is not sleeping, or not waiting for input. */
export function threadSleep(pid: number, thread: string): ThreadSleep | null {
  const [number, ...rest] = readFileSync(`/proc/${pid}/task/${thread}/syscall`, 'latin1').split(' ');
  const call = CALLS[process.arch]?.[Number(number)];
  if (call === undefined) return null;
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = rest.map(Number);
  switch (call) {
    case 'read':
      return { descriptors: [a], limitMs: Number.POSITIVE_INFINITY };
    case 'poll':
      return { descriptors: polled(pid, a, b), limitMs: milliseconds(c) };
    case 'ppoll':
      return { descriptors: polled(pid, a, b), limitMs: timeAt(pid, c, NANOSECONDS) };
    case 'select':
      return { descriptors: selected(pid, a, b), limitMs: timeAt(pid, e, MICROSECONDS) };
    case 'pselect':
      return { descriptors: selected(pid, a, b), limitMs: timeAt(pid, e, NANOSECONDS) };
    case 'epoll':
      return { descriptors: registered(pid, a), limitMs: milliseconds(d) };
    case 'epoll2':
      return { descriptors: registered(pid, a), limitMs: timeAt(pid, d, NANOSECONDS) };
  }
}

/** A timeout as an int; -1 may sit in the 64-bit register with or without sign extension. */
function milliseconds(timeout: number): number {
  return timeout >= 0x8000_0000 ? Number.POSITIVE_INFINITY : timeout;
}

/** Fractional units of struct timeval and timespec, per millisecond. */
const MICROSECONDS = 1e3;
const NANOSECONDS = 1e6;

/** A struct of seconds and a fraction; a null pointer means no limit. */
function timeAt(pid: number, address: number, partsPerMs: number): number {
  if (address === 0) return Number.POSITIVE_INFINITY;
  const time = readMemory(pid, address, TIME_BYTES);
  if (time.length < TIME_BYTES) return 0;
  return Number(time.readBigInt64LE(0)) * 1000 + Number(time.readBigInt64LE(8)) / partsPerMs;
}

function polled(pid: number, address: number, count: number): number[] {
  const entries = readMemory(pid, address, Math.min(count, MAX_WATCHED) * POLLFD_BYTES);
  const found: number[] = [];
  for (let at = 0; at + POLLFD_BYTES <= entries.length; at += POLLFD_BYTES) {
    if (entries.readInt16LE(at + 4) & linux.POLLIN) found.push(entries.readInt32LE(at));
  }
  return found;
}

function selected(pid: number, count: number, address: number): number[] {
  if (address === 0) return [];
  const bits = readMemory(pid, address, Math.ceil(Math.min(count, MAX_WATCHED) / 8));
  return Array.from({ length: bits.length * 8 }, (_, fd) => fd).filter(
    (fd) => (bits[fd >> 3] ?? 0) & (1 << (fd & 7)),
  );
}

function registered(pid: number, epoll: number): number[] {
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
