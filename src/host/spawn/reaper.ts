import { libc, linux } from '../kernel/index.js';
import type { ResourceUsage } from '../../contract/index.js';
import { isMarked } from './process-scan.js';
import { lastUsage, rusage } from './resource-usage.js';

/** Size of `siginfo_t` and the offsets of some members, on 64-bit machines. */
const SIGINFO_BYTES = 128;
const SIGINFO_CODE_AT = 8;
const SIGINFO_PID_AT = 16;
const SIGINFO_STATUS_AT = 24;
/** Set in the wait status of a process that was killed and left an image of its memory. */
const CORE_DUMPED = 0x80;

/** SIGCHLD normally tells us right away; this covers a lost one and keeps the loop alive while children run. */
const LOOK_AGAIN_MS = 1000;

/** How long an ended child that is not ours waits for its owner, in a process that adopts orphans. */
const ABANDONED_MS = 1000;

interface Watch {
  /** `usage` is unknown if the system does not report it. */
  readonly exited: (status: number, usage: ResourceUsage | undefined) => void;
  readonly keepAlive: boolean;
  /** It is reaped after `exited` has recorded its status: if we are killed meanwhile, its new parent still learns it. */
  readonly recordsFirst?: boolean;
}

const watched = new Map<number, Watch>();
/**
 * Children of an earlier server, which another process reaps. Apart from our own: once that process has reaped one, a child
 * of ours may get its pid before we learn of it.
 */
const adopted = new Map<number, Watch>();
const listeners = new Set<() => void>();
const info = new Int32Array(SIGINFO_BYTES / 4);
const infoBytes = new Uint8Array(info.buffer);
const status = new Int32Array(1);
let listening = false;
let wanted = false;
let adopting = false;
let keptAlive = 0;
let ticker: NodeJS.Timeout | undefined;
let foreignPid = 0;
let reapOther: ((pid: number, status: number, usage: ResourceUsage) => void) | undefined;

/** Call before starting a child, so that its SIGCHLD cannot be missed. */
export function listenForExits(): void {
  wanted = true;
  if (listening) return;
  listening = true;
  process.on('SIGCHLD', reap);
}

/**
 * No more children will be started: the handler goes with the last one that ends. A process that adopts orphans keeps
 * it.
 */
export function stopListening(): void {
  wanted = adopting;
  leaveIfIdle();
}

function leaveIfIdle(): void {
  if (wanted || !listening || watched.size > 0 || adopted.size > 0) return;
  listening = false;
  process.off('SIGCHLD', reap);
}

/** From here on ended orphans with a mark are reaped as well: nobody else can reap them. */
export function startReapingOrphans(): void {
  adopting = true;
  listenForExits();
}

/** From here on every child that nobody watches is reaped, and reported with its status and what it used. */
export function reapEverything(listener: (pid: number, status: number, usage: ResourceUsage) => void): void {
  reapOther = listener;
  listenForExits();
}

/** Calls `exited` once with the wait status, from the event loop. */
export function watchExit(pid: number, watch: Watch): void {
  watched.set(pid, watch);
  keepAliveFor(watch);
}

/** Like `watchExit`, for a child of an earlier server; see `reapedElsewhere`. */
export function watchAdopted(pid: number, watch: Watch): void {
  adopted.set(pid, watch);
  keepAliveFor(watch);
}

function keepAliveFor(watch: Watch): void {
  if (!watch.keepAlive) return;
  keptAlive += 1;
  ticker ??= setInterval(reap, LOOK_AGAIN_MS);
}

/** True for a child that we or an earlier server started, and that is not reaped as far as we know. */
export function isWatched(pid: number): boolean {
  return watched.has(pid) || adopted.has(pid);
}

/** Resolves on the next SIGCHLD, or after `ms`. */
export function nextExit(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      listeners.delete(done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    listeners.add(done);
  });
}

/**
 * Reaps our own ended children and adopted orphans with a mark. Others belong to libuv or to other code in this process
 * and are left alone. They hide the ones queued behind them, so then each of ours is checked individually.
 */
function reap(): void {
  for (const listener of listeners) listener();
  for (let pid = peek(); pid !== 0; pid = peek()) {
    if (watched.has(pid)) collect(pid);
    else if (reapOther) {
      if (libc().wait4(pid, status, linux.WNOHANG, rusage) === pid)
        reapOther(pid, status[0] ?? 0, lastUsage());
    } else if (adopting && isMarked(pid)) libc().waitpid(pid, status, linux.WNOHANG);
    else return skipForeignChild(pid);
  }
}

/** The pid of some ended child, without reaping it; 0 if there is none. */
function peek(): number {
  return look(linux.P_ALL, 0);
}

/** Fills `info` and `rusage` from an ended child, without reaping it. Returns its pid; 0 if there is none. */
function look(kind: number, id: number): number {
  info.fill(0);
  const options = linux.WEXITED | linux.WNOHANG | linux.WNOWAIT;
  const failed = libc().waitid(linux.SYS_waitid, kind, id, infoBytes, options, rusage) !== 0;
  return failed ? 0 : (info[SIGINFO_PID_AT / 4] ?? 0);
}

/** Checks again in the next turn, when its owner has reaped it; only once per pid, since it may stay. */
function skipForeignChild(pid: number): void {
  if (pid !== foreignPid) {
    setImmediate(reap);
    if (adopting) setTimeout(afterNextSignals, ABANDONED_MS, () => reapAbandoned(pid)).unref();
  }
  foreignPid = pid;
  for (const own of watched.keys()) collect(own);
}

/** Calls back after libuv has had a turn to learn of ended children, even if the loop was stalled before. */
function afterNextSignals(then: () => void): void {
  setImmediate(() => setImmediate(then));
}

/**
 * libuv reaps its own children in the turn it learns of them. Whatever is still there was left to us by a parent that
 * died, such as the outer half of a sandbox. Nobody else can reap it, and it hides everything queued behind it.
 */
function reapAbandoned(pid: number): void {
  if (!watched.has(pid)) libc().waitpid(pid, status, linux.WNOHANG);
  reap();
}

function collect(pid: number): void {
  const watch = watched.get(pid);
  if (watch === undefined) return;
  if (watch.recordsFirst) {
    const ended = peekAt(pid);
    if (ended === null) return;
    watched.delete(pid);
    finish(watch, ended, lastUsage());
    libc().waitpid(pid, status, linux.WNOHANG);
  } else if (libc().wait4(pid, status, linux.WNOHANG, rusage) === pid) {
    watched.delete(pid);
    finish(watch, status[0] ?? 0, lastUsage());
  }
}

/**
 * Another process has reaped one. It may be one we never knew. Its memory includes that of the server which started it, as far as
 * the kernel tells, and nobody knows how much that was.
 */
export function reapedElsewhere(pid: number, ended: number, usage?: ResourceUsage): void {
  const watch = adopted.get(pid);
  adopted.delete(pid);
  if (watch) finish(watch, ended, usage && { ...usage, peakMemoryIsUpperBound: true });
}

/** The wait status of a child that has ended, without reaping it; null if it has not, or is not our child. */
function peekAt(pid: number): number | null {
  if (look(linux.P_PID, pid) !== pid) return null;
  const [code = 0, number = 0] = [info[SIGINFO_CODE_AT / 4], info[SIGINFO_STATUS_AT / 4]];
  if (code === linux.CLD_EXITED) return number << 8;
  return number | (code === linux.CLD_DUMPED ? CORE_DUMPED : 0);
}

function finish(watch: Watch, ended: number, usage?: ResourceUsage): void {
  if (watch.keepAlive) keptAlive -= 1;
  if (keptAlive === 0) {
    clearInterval(ticker);
    ticker = undefined;
  }
  watch.exited(ended, usage);
  leaveIfIdle();
}
