import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file that never has a name. Node does not have this constant. */
const O_TMPFILE = constants.O_DIRECTORY | 0o20000000;

/** Between two looks at the clock, as a part of the lease. */
const LOOKS_PER_LEASE = 20;
const LONGEST_PAUSE_S = 1;

/**
 * Ends the programs of jobs whose lease has run out while the server itself cannot: it may be stopped, or hang. Each line of
 * descriptor 3 is a time since the start of the machine, in hundredths of a second, and the mark of a process tree, by which all
 * of its members are known (see `tree-mark.ts`). Anything else is still being written. Ends with the server, whose watchdog then
 * ends everything.
 */
const SCRIPT = `
trap '' HUP INT TERM
while read -r line < "/proc/$$/stat" && set -- "$1" "$2" \${line##*) } && [ "$4" = "$2" ]; do
  read -r up rest < /proc/uptime
  now="\${up%.*}\${up#*.}"
  while read -r until mark; do
    case "$mark" in 8??????????????????) ;; *) continue;; esac
    case "$mark" in *[!0-9]*) continue;; esac
    [ "$now" -ge "$until" ] || continue
    rounds=0 found=yes
    while [ -n "$found" ] && [ "$rounds" -lt 200 ]; do
      found=
      for dir in /proc/[0-9]*; do
        while read -r a b c value rest; do
          case "$a $b $c" in "Max realtime timeout") break;; esac
        done 2>/dev/null < "$dir/limits" || continue
        [ "$value" = "$mark" ] || continue
        read -r stat 2>/dev/null < "$dir/stat" || continue
        case "\${stat##*) }" in Z*) continue;; esac
        found=yes
        kill -9 "\${dir#/proc/}" 2>/dev/null
      done
      rounds=$((rounds + 1))
    done
  done < /proc/self/fd/3
  sleep "$1"
done
`;

/** The trees of jobs on this machine, each with the time at which its lease has run out. */
export class LeaseGuard {
  #file: number | undefined;
  readonly #child: ChildProcess | undefined;
  readonly #until = new Map<string, number>();

  constructor(leaseMs: number) {
    if (uptimeTicks() === undefined) return;
    this.#file = namelessFile();
    const seconds = Math.min(LONGEST_PAUSE_S, leaseMs / 1000 / LOOKS_PER_LEASE);
    const argv = ['-c', SCRIPT, 'execwire-lease-guard', String(seconds), String(process.pid)];
    this.#child = spawn('/bin/sh', argv, {
      stdio: ['ignore', 'ignore', 'ignore', this.#file],
      detached: true,
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    });
    this.#child.on('error', () => undefined);
    this.#child.unref();
  }

  /** The tree of this process may run for this long from now. */
  set(tree: string, ms: number): void {
    const now = uptimeTicks();
    if (now === undefined) return;
    this.#until.set(tree, now + Math.floor(ms / 10));
    this.#write();
  }

  clear(tree: string): void {
    if (this.#until.delete(tree)) this.#write();
  }

  close(): void {
    this.#child?.kill('SIGKILL');
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #write(): void {
    if (this.#file === undefined) return;
    const lines = [...this.#until].map(([tree, until]) => `${until} ${tree}\n`);
    ftruncateSync(this.#file);
    writeSync(this.#file, lines.join(''), 0);
  }
}

/**
 * Confined programs run as our user, and may write to the directory of temporary files: with a name, they could tell the
 * guard whom to kill.
 */
function namelessFile(): number {
  try {
    return openSync(tmpdir(), constants.O_RDWR | O_TMPFILE, 0o600);
  } catch {
    // Not on this file system.
    const folder = mkdtempSync(join(tmpdir(), 'execwire-jobs-'));
    const file = openSync(join(folder, 'leases'), 'wx+', 0o600);
    rmSync(folder, { recursive: true, force: true });
    return file;
  }
}

/** What the tree of a process is known by; undefined where trees have no marks, or it is gone. */
export function treeOf(pid: number): string | undefined {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8');
    return /^Max realtime timeout\s+(8\d{18})\s/m.exec(limits)?.[1];
  } catch {
    return undefined;
  }
}

/** Hundredths of a second since the machine was started, time asleep included; undefined where that is unknown. */
function uptimeTicks(): number | undefined {
  try {
    const [, seconds = '', hundredths = ''] =
      /^(\d+)\.(\d\d)/.exec(readFileSync('/proc/uptime', 'utf8')) ?? [];
    return seconds === '' ? undefined : Number(seconds) * 100 + Number(hundredths);
  } catch {
    return undefined;
  }
}
