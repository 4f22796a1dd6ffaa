import { isExecError } from '../../protocol/errors.js';
import { DescriptorScope } from './descriptors.js';
import { guardedMarkText, markPrefix, marksAvailable, withHelperMark } from './tree-mark.js';
import { libc } from '../kernel/index.js';
import { posixSpawn } from './posix-spawn.js';
import { ledgerFile } from './ledger.js';
import { listenForExits, watchExit } from './reaper.js';
import { FAREWELL, WATCHDOG_SCRIPT } from './watchdog-script.js';

/** The descriptor on which the script finds the ledger. */
const LEDGER_FD = 3;

interface Watchdog {
  readonly pid: number;
  /** Our end of its stdin; the kernel closes it when we die, for whatever reason. */
  readonly leash: number;
}

/** What happened after a watchdog died: it was replaced, or there is none until the next child is started. */
export type WatchdogTrouble = 'replaced' | 'gaveUp';

/** A watchdog that keeps dying is not replaced for ever. */
const MAX_REPLACEMENTS = 5;
const REPLACEMENTS_WITHIN_MS = 10_000;

let current: Watchdog | null = null;
/** When recently dead watchdogs were replaced. */
let replacements: number[] = [];
let isGuardedElsewhere = false;
let notify: (trouble: WatchdogTrouble) => void = () => {};

/** Sets the listener for dead watchdogs. */
export function onWatchdogTrouble(listener: (trouble: WatchdogTrouble) => void): void {
  notify = listener;
}

/** Our parent has a watchdog, which lives as long as that parent does. */
export function guardedElsewhere(): void {
  isGuardedElsewhere = true;
}

/**
 * Starts the process that kills all trees should this server be killed. It runs before the first child, which may be
 * what kills the server. Does nothing if it is running already. If there is no room for it, the next child triggers
 * another attempt.
 */
export function ensureWatchdog(): void {
  if (current !== null || isGuardedElsewhere || !marksAvailable()) return;
  listenForExits();
  try {
    current = start();
  } catch (error) {
    if (!isExecError(error, 'spawnFailed')) throw error;
  }
}

function start(): Watchdog | null {
  using scope = new DescriptorScope();
  const { readEnd, writeEnd } = scope.pipe();
  const marks = [markPrefix(), guardedMarkText()];
  const argv = ['/bin/sh', '-c', WATCHDOG_SCRIPT, 'execwire-watchdog', ...marks];
  const ledger = ledgerFile();
  const inheritFds = ledger === null ? [] : [{ childFd: LEDGER_FD, fd: ledger }];
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  const streams = { kind: 'silent', stdin: readEnd } as const;
  const request = { path: '/bin/sh', argv, env, cwd: '/', streams, inheritFds };
  const started = withHelperMark(() => posixSpawn(request, scope));
  if ('errno' in started) return null;
  const watchdog = { pid: started.pid, leash: scope.keep(writeEnd) };
  watchExit(started.pid, { keepAlive: false, exited: () => died(watchdog) });
  return watchdog;
}

/** Tells the watchdog that the server is shutting down in good order. */
export function dismissWatchdog(): void {
  if (current === null) return;
  const line = Buffer.from(`${FAREWELL}\n`);
  libc().write(current.leash, line, line.length);
  release(current);
}

/** The watchdog's pid; null if it is not running. */
export function watchdogPid(): number | null {
  return current?.pid ?? null;
}

/** Killed by someone, or by the machine running out of memory, while there are trees to guard. */
function died(watchdog: Watchdog): void {
  if (current !== watchdog) return;
  release(watchdog);
  const now = performance.now();
  replacements = replacements.filter((at) => now - at < REPLACEMENTS_WITHIN_MS);
  if (replacements.length < MAX_REPLACEMENTS) {
    replacements.push(now);
    ensureWatchdog();
  }
  notify(current === null ? 'gaveUp' : 'replaced');
}

function release(watchdog: Watchdog): void {
  if (current !== watchdog) return;
  current = null;
  libc().close(watchdog.leash);
}
