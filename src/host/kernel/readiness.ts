import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { libc } from './libc.js';
import { linux } from './linux.js';
import { openPipe } from './sandbox-calls.js';

/**
 * Tells when a descriptor can be read or written, and leaves the rest to the caller. Streams of Node cannot: they read
 * as soon as there is something.
 *
 * All descriptors are in one epoll instance, which itself is readable while any of them is ready. libuv watches that one
 * for us, in the place of a pipe: a stream whose buffer has no room reads nothing, and its handle calls back.
 */

/** `struct epoll_event` is packed on x64 only. */
const isPacked = process.arch === 'x64';
const EVENT_BYTES = isPacked ? 12 : 16;
const DATA_AT = isPacked ? 4 : 8;
/** Looked at in one turn; the others stay ready. */
const MAX_EVENTS = 64;

type Watcher = () => void;

interface Poll {
  readonly epoll: number;
  readonly socket: Socket;
}

const watchers = new Map<number, Watcher>();
const events = new Uint8Array(Math.max(EVENT_BYTES * MAX_EVENTS, 128));
const eventView = new DataView(events.buffer);
const change = new Uint8Array(128);
const changeView = new DataView(change.buffer);
let poll: Poll | undefined;

/** Calls back in every turn of the event loop in which the descriptor is ready. Keeps the process running. */
export function watchReadiness(fd: number, wanted: 'read' | 'write', ready: Watcher): void {
  poll ??= open();
  const flags = wanted === 'read' ? linux.EPOLLIN : linux.EPOLLOUT;
  control(poll, linux.EPOLL_CTL_ADD, fd, flags);
  watchers.set(fd, ready);
  if (watchers.size === 1) poll.socket.ref();
}

/** Idempotent. Must be called before the descriptor is closed. */
export function unwatchReadiness(fd: number): void {
  if (!poll || !watchers.delete(fd)) return;
  control(poll, linux.EPOLL_CTL_DEL, fd, 0);
  if (watchers.size === 0) poll.socket.unref();
}

function control({ epoll }: Poll, operation: number, fd: number, flags: number): void {
  changeView.setUint32(0, flags, true);
  changeView.setInt32(DATA_AT, fd, true);
  if (libc().epollControl(epoll, operation, fd, change) === 0) return;
  throw new Error(`a descriptor cannot be watched (${libc().errno()})`);
}

function open(): Poll {
  const epoll = libc().epollCreate(linux.O_CLOEXEC);
  if (epoll < 0) throw new Error(`no descriptor can be watched (${libc().errno()})`);
  const { readEnd, writeEnd } = openPipe();
  const onread = { buffer: new Uint8Array(0), callback: () => true };
  // The typings allow `onread` for connections only; the constructor accepts it too.
  const options = { fd: readEnd, readable: true, writable: false, onread, manualStart: true };
  const socket = new Socket(options);
  const handle = Reflect.get(socket, '_handle') as { onread: () => void };
  handle.onread = look;
  if (libc().dup3(epoll, readEnd, linux.O_CLOEXEC) !== readEnd)
    throw new Error(`no descriptor can be watched (${libc().errno()})`);
  closeSync(writeEnd);
  socket.unref();
  socket.read(0);
  return { epoll, socket };
}

function look(): void {
  if (!poll) return;
  const count = libc().epollWait(poll.epoll, events, MAX_EVENTS, 0);
  const ready: number[] = [];
  for (let index = 0; index < count; index += 1)
    ready.push(eventView.getInt32(index * EVENT_BYTES + DATA_AT, true));
  // Looked up one by one: one of them may stop the watch of another.
  for (const fd of ready) watchers.get(fd)?.();
}
