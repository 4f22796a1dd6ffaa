import { isExecError } from '../../protocol/errors.js';
import { DescriptorScope } from './descriptors.js';
import { marksAvailable, withHelperMark, markPrefix } from './tree-mark.js';
import { libc } from '../kernel/index.js';
import { posixSpawn } from './posix-spawn.js';
import { ledgerFile } from './ledger.js';
import { listenForExits, watchExit } from './reaper.js';
import { FAREWELL, WATCHDOG_SCRIPT } from './watchdog-script.js';

/** Under which number the script finds what we know of our trees. */
const LEDGER_FD = 3;

interface Watchdog {
  readonly pid: number;
  /** Our end of its stdin; the kernel closes it when we die, whatever the reason. */
  readonly leash: number;
}

/** What became of a watchdog that died: there is another one, or none until the next child is started. */
export type WatchdogTrouble = 'replaced' | 'gaveUp';

/** One that dies again and again is not brought back without end. */
const MAX_REPLACEMENTS = 5;
const REPLACEMENTS_WITHIN_MS = 10_000;

let current: Watchdog | null = null;
/** When those that died lately were replaced. */
let replacements: number[] = [];
let tell: (trouble: WatchdogTrouble) => void = () => {};

/** Who is told when a watchdog died. */
export function onWatchdogTrouble(listener: (trouble: WatchdogTrouble) => void): void {
  tell = listener;
}

/**
 * Starts the process that ends all trees should this server be killed: before the first child, which may be what kills it. Does
 * nothing if it runs already. Should there be no room for it, the next child brings the next attempt.
 */
export function ensureWatchdog(): void {
  if (current !== null || !marksAvailable()) return;
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
  const argv = ['/bin/sh', '-c', WATCHDOG_SCRIPT, 'execwire-watchdog', markPrefix];
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

/** Tells it that the server ends in good order. */
export function dismissWatchdog(): void {
  if (current === null) return;
  const line = Buffer.from(`${FAREWELL}\n`);
  libc().write(current.leash, line, line.length);
  release(current);
}

/** Whether and as which process it runs. */
export function watchdogPid(): number | null {
  return current?.pid ?? null;
}

/** Somebody killed it, or the machine was out of memory. There are trees it watched over. */
function died(watchdog: Watchdog): void {
  if (current !== watchdog) return;
  release(watchdog);
  const now = performance.now();
  replacements = replacements.filter((at) => now - at < REPLACEMENTS_WITHIN_MS);
  if (replacements.length < MAX_REPLACEMENTS) {
    replacements.push(now);
    ensureWatchdog();
  }
  tell(current === null ? 'gaveUp' : 'replaced');
}

function release(watchdog: Watchdog): void {
  if (current !== watchdog) return;
  current = null;
  libc().close(watchdog.leash);
}
