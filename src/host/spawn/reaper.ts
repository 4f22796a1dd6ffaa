import { libc, linux } from '../kernel/index.js';
import { isMarked } from './process-scan.js';

/** `siginfo_t` and where it holds the pid, on 64-bit machines. */
const SIGINFO_BYTES = 128;
const SIGINFO_PID_AT = 16;

/** SIGCHLD tells us at once; this is for one that never came, and it keeps the loop alive while children run. */
const LOOK_AGAIN_MS = 1000;

/** How long an ended child that is not ours waits for its owner, in a process that inherits orphans. */
const ABANDONED_MS = 1000;

interface Watch {
  readonly exited: (status: number) => void;
  readonly keepAlive: boolean;
}

const watched = new Map<number, Watch>();
const listeners = new Set<() => void>();
const info = new Int32Array(SIGINFO_BYTES / 4);
const infoBytes = new Uint8Array(info.buffer);
const status = new Int32Array(1);
let listening = false;
let wanted = false;
let adopting = false;
let keptAlive = 0;
let ticker: NodeJS.Timeout | undefined;
let stranger = 0;

/** Must be called before a child is started, so that the signal of its end cannot be missed. */
export function listenForExits(): void {
  wanted = true;
  if (listening) return;
  listening = true;
  process.on('SIGCHLD', reap);
}

/** Nobody starts children any more: the handler goes with the last that ends. One that adopts orphans keeps it. */
export function stopListening(): void {
  wanted = adopting;
  leaveIfIdle();
}

function leaveIfIdle(): void {
  if (wanted || !listening || watched.size > 0) return;
  listening = false;
  process.off('SIGCHLD', reap);
}

/** From here on ended orphans that carry a mark are taken too: they are ours because nobody else can have them. */
export function alsoReapOrphans(): void {
  adopting = true;
  listenForExits();
}

/** Calls `exited` once with the wait status, from the event loop. */
export function watchExit(pid: number, watch: Watch): void {
  watched.set(pid, watch);
  if (!watch.keepAlive) return;
  keptAlive += 1;
  ticker ??= setInterval(reap, LOOK_AGAIN_MS);
}

/** Whether this pid is a child that was started here and is not reaped yet: then the number cannot be another's. */
export function isWatched(pid: number): boolean {
  return watched.has(pid);
}

/** Resolves with the next SIGCHLD, or after `ms`. */
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
 * Takes every ended child that is ours, and adopted orphans that carry a mark. Others belong to libuv or
 * to somebody else in this process and are left alone; they hide what is behind them, so then each of ours is asked.
 */
function reap(): void {
  for (const listener of listeners) listener();
  for (let pid = peek(); pid !== 0; pid = peek()) {
    if (watched.has(pid)) collect(pid);
    else if (adopting && isMarked(pid)) libc().waitpid(pid, status, linux.WNOHANG);
    else return passStranger(pid);
  }
}

/** The pid of some ended child, without taking it; 0 if there is none. */
function peek(): number {
  info.fill(0);
  const failed =
    libc().waitid(linux.P_ALL, 0, infoBytes, linux.WEXITED | linux.WNOHANG | linux.WNOWAIT) !== 0;
  return failed ? 0 : (info[SIGINFO_PID_AT / 4] ?? 0);
}

/** Looks once more in the next turn, when its owner has taken it; not again for the same one, which may stay. */
function passStranger(pid: number): void {
  if (pid !== stranger) {
    setImmediate(reap);
    if (adopting) setTimeout(afterNextSignals, ABANDONED_MS, () => takeAbandoned(pid)).unref();
  }
  stranger = pid;
  for (const own of watched.keys()) collect(own);
}

/** Calls back when libuv has had a turn to hear of ended children, also if the loop stood still before. */
function afterNextSignals(then: () => void): void {
  setImmediate(() => setImmediate(then));
}

/**
 * libuv takes its own children in the turn it hears of them: what is still there was left to us by a parent that
 * died, such as the outer half of a sandbox. Nobody else can take it, and it hides all that is behind it.
 */
function takeAbandoned(pid: number): void {
  if (!watched.has(pid)) libc().waitpid(pid, status, linux.WNOHANG);
  reap();
}

function collect(pid: number): void {
  const watch = watched.get(pid);
  if (watch === undefined || libc().waitpid(pid, status, linux.WNOHANG) !== pid) return;
  const ended = status[0] ?? 0;
  watched.delete(pid);
  if (watch.keepAlive) keptAlive -= 1;
  if (keptAlive === 0) {
    clearInterval(ticker);
    ticker = undefined;
  }
  watch.exited(ended);
  leaveIfIdle();
}
