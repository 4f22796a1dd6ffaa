import { isExecError } from '../../protocol/errors.js';
import { DescriptorScope } from './descriptors.js';
import { marksAvailable, withHelperMark, markPrefix } from './tree-mark.js';
import { libc } from '../kernel/libc.js';
import { posixSpawn } from './posix-spawn.js';
import { listenForExits, watchExit } from './reaper.js';

const FAREWELL = 'bye';

/** Rounds of 20 ms and more: enough for any tree that SIGKILL can end, and an end for those it cannot. */
const ROUNDS = 200;

/*
 * Waits for the end of the pipe that only the server holds open. Without a farewell the server was killed: then
 * everything with its mark is killed, until a round finds nobody. Needs no program but the shell itself (`sleep` only
 * spares CPU), so that it works while the machine is out of processes. A zombie is dead already. Signals that somebody sends
 * to everything at once are meant for the server: it is needed until that is gone.
 */
const SCRIPT = `
trap '' HUP INT TERM
read -r word && [ "$word" = "${FAREWELL}" ] && exit 0
round=0
while [ "$round" -lt ${ROUNDS} ]; do
  found=
  for limits in /proc/[0-9]*/limits; do
    while read -r a b c value rest; do
      case "$a $b $c" in "Max realtime timeout") break;; esac
    done < "$limits" || continue
    case "$value" in "$1"*) ;; *) continue;; esac
    dir=\${limits%/limits}
    while read -r key state rest; do
      [ "$key" = State: ] && break
    done < "$dir/status" || continue
    [ "$state" = Z ] && continue
    found=yes
    kill -9 "\${dir#/proc/}"
  done
  [ -z "$found" ] && exit 0
  round=$((round + 1))
  sleep 0.02
done`;

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
  const argv = ['/bin/sh', '-c', SCRIPT, 'execwire-watchdog', markPrefix];
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C' };
  const streams = { kind: 'silent', stdin: readEnd } as const;
  const request = { path: '/bin/sh', argv, env, cwd: '/', streams };
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
