import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { ExecError } from '../../../protocol/errors.js';
import { hasKernel, isScarcity, trustedPath, trustedProgram } from '../../kernel/index.js';
import { spawnGuarded } from '../../spawn/index.js';
import { bwrapOptions } from '../bwrap/bwrap-argv.js';
import { mountsPropagate } from '../plan/mount-table.js';
import { explainFailure, gaps, isTransient, type SandboxGap } from './probe-failure.js';
import { canLimitProcesses } from '../bwrap/process-limit.js';
import { openFilter } from '../seccomp/seccomp.js';
import type { FilterArchitecture } from '../seccomp/syscalls.js';

/** What this machine can enforce. */
export type SandboxSupport =
  | ({ readonly available: false; readonly level: 'none' } & SandboxGap)
  | {
      readonly available: true;
      /** Files, network, processes and system calls are all confined, or nothing is. */
      readonly level: 'full';
      /** Absolute path of the program. */
      readonly bwrap: string;
      readonly version: string;
      readonly architecture: FilterArchitecture;
      /** We run as root, whose processes no limit counts. */
      readonly root: boolean;
      /** A user namespace must be requested. Plain users always get one. */
      readonly userNamespace: boolean;
      /** True if the number of processes inside can be limited. */
      readonly processLimit: boolean;
      /** bubblewrap can set `argv[0]`. */
      readonly argv0: boolean;
      /** bubblewrap can mount open descriptors, so that nobody can swap a path between our check and its mount. */
      readonly bindFd: boolean;
      /**
       * Whether mounts made on the host while a program runs reach it: `stayOut` if they never would, `keptOut` if
       * `privateMountsPrefix` prevents it, `reachIt` if they do.
       */
      readonly laterMounts: 'stayOut' | 'keptOut' | 'reachIt';
    };

/** Options every policy uses; a bubblewrap that lacks one is too old. */
const NEEDED_OPTIONS = [
  '--json-status-fd',
  '--remount-ro',
  '--perms',
  '--size',
  '--seccomp',
  '--cap-drop',
  '--args',
];

/** A sandbox that takes longer than this to start is as good as none. */
const PROBE_TIMEOUT_MS = 10_000;

/** Results by bubblewrap program, usually a single one, and by the user we were at the time. */
const known = new Map<string, Promise<SandboxSupport>>();

/** A program that embeds us may start as root and then become another user, for whom the result differs. */
function probeKey(bwrap: string | null): string {
  return `${process.getuid?.()} ${process.geteuid?.()} ${bwrap ?? ''}`;
}

/** What this machine can enforce, determined once by trying it. Transient failures are tried again. */
export function sandboxSupport(): Promise<SandboxSupport> {
  const bwrap = trustedProgram('bwrap');
  const key = probeKey(bwrap);
  const probed = known.get(key) ?? probeSandbox({ bwrap });
  known.set(key, probed);
  const forget = () => known.get(key) === probed && known.delete(key);
  probed.then((support) => !support.available && isTransient(support) && forget(), forget);
  return probed;
}

/** Calls `use` with the result. If its policy makes bubblewrap untrusted, tries again with the next one. */
export async function withSupport<T>(use: (support: SandboxSupport) => T): Promise<T> {
  for (;;) {
    const bwrap = trustedProgram('bwrap');
    const support = await sandboxSupport();
    try {
      return use(support);
    } catch (error) {
      if (trustedProgram('bwrap') === bwrap) throw error;
    }
  }
}

/** Probes again. */
export async function probeSandbox({
  bwrap = trustedProgram('bwrap'),
}: {
  bwrap?: string | null;
} = {}): Promise<SandboxSupport> {
  try {
    return await probe(bwrap);
  } catch (error) {
    if (!isScarcity(error)) throw error;
    return gap(gaps.noRoom);
  }
}

async function probe(bwrap: string | null): Promise<SandboxSupport> {
  const architecture = filterArchitecture();
  if (architecture === null) return gap(gaps.platform);
  if (!hasKernel()) return gap(gaps.libcUnavailable);
  if (bwrap === null) return gap(withoutBwrap());
  const root = process.getuid?.() === 0;
  // In parallel, since the first client is waiting.
  const [help, version, trial] = await Promise.all([
    output(bwrap, ['--help']),
    output(bwrap, ['--version']),
    tryVariants(bwrap, { architecture, root }),
  ]);
  if (!NEEDED_OPTIONS.every((option) => help.includes(option))) return gap(gaps.bubblewrapTooOld);
  if ('said' in trial) return gap(explainFailure(trial.said));
  const { userNamespace } = trial;
  return {
    available: true,
    level: 'full',
    bwrap,
    version: version.replace(/^\D+/, '').trim(),
    architecture,
    root,
    userNamespace,
    processLimit: canLimitProcesses({ root }),
    argv0: help.includes('--argv0'),
    bindFd: help.includes('--bind-fd'),
    laterMounts: mountsPropagate()
      ? await tryPrivateMounts(bwrap, { architecture, root, userNamespace })
      : 'stayOut',
  };
}

async function tryPrivateMounts(
  bwrap: string,
  {
    architecture,
    root,
    userNamespace,
  }: { architecture: FilterArchitecture; root: boolean; userNamespace: boolean },
): Promise<'keptOut' | 'reachIt'> {
  const prefix = privateMountsPrefix({ root, userNamespace });
  if (prefix === null) return 'reachIt';
  const said = await trySandbox(bwrap, { architecture, userNamespace, prefix });
  if (isTransient(explainFailure(said))) throw outOfRoom(said);
  return said === '' ? 'keptOut' : 'reachIt';
}

/** Root may do without a user namespace, or need one if it is root only in a container. */
async function tryVariants(
  bwrap: string,
  { architecture, root }: { architecture: FilterArchitecture; root: boolean },
): Promise<{ userNamespace: boolean } | { said: string }> {
  let said = '';
  for (const userNamespace of root ? [false, true] : [false]) {
    said = await trySandbox(bwrap, { architecture, userNamespace });
    if (said === '') return { userNamespace };
  }
  return { said };
}

/**
 * Prepended to bubblewrap if mounts propagate, as they do under systemd. Mounts made on the host while a sandbox exists
 * would otherwise appear inside, writable whatever the policy says; starting bubblewrap among private mounts prevents
 * that. Null if there is no such prefix.
 */
export function privateMountsPrefix({
  root,
  userNamespace,
}: {
  readonly root: boolean;
  readonly userNamespace: boolean;
}): readonly string[] | null {
  const unshare = trustedProgram('unshare');
  if (unshare === null) return null;
  const rights = root && !userNamespace ? [] : ['--user', '--map-current-user'];
  return [unshare, ...rights, '--mount', '--propagation', 'private', '--'];
}

function gap(found: SandboxGap): SandboxSupport {
  return { available: false, level: 'none', ...found };
}

function filterArchitecture(): FilterArchitecture | null {
  if (process.platform !== 'linux') return null;
  return process.arch === 'x64' || process.arch === 'arm64' ? process.arch : null;
}

/** Why there is no bubblewrap. */
export function withoutBwrap(): SandboxGap {
  return trustedPath().hasLost('bwrap') ? gaps.bubblewrapWritable : gaps.bubblewrapMissing;
}

async function output(program: string, args: string[]): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, {
      timeout: PROBE_TIMEOUT_MS,
      env: {},
    });
    return stdout + stderr;
  } catch (error) {
    // A program that was killed, by us for taking too long or by others, has not answered.
    if (isScarcity(error) || (error as { signal?: unknown }).signal) throw outOfRoom(error);
    return '';
  }
}

function outOfRoom(cause: unknown): Error {
  return new ExecError('spawnFailed', gaps.noRoom.message, { data: { reason: gaps.noRoom.reason }, cause });
}

/**
 * Runs the strictest sandbox around the one program that certainly exists, bubblewrap itself. Resolves to what went
 * wrong, or an empty string.
 */
function trySandbox(
  bwrap: string,
  {
    architecture,
    userNamespace,
    prefix = [],
  }: { architecture: FilterArchitecture; userNamespace: boolean; prefix?: readonly string[] },
): Promise<string> {
  const options = bwrapOptions({
    plan: { base: 'readOnly', mounts: [], placeholders: [], accessAt: () => 'read' },
    network: 'restricted',
    cwd: '/',
    env: {},
    terminal: false,
    userNamespace,
    fds: { seccomp: 3, status: 4 },
  });
  const filter = openFilter({ architecture, unixSockets: 'blocked' });
  let status: number;
  try {
    status = openSync('/dev/null', 'w');
  } catch (error) {
    closeSync(filter);
    throw error;
  }
  return new Promise((resolve, reject) => {
    const [program, ...args] = [...prefix, bwrap, ...options, '--', bwrap, '--version'] as const;
    const child = spawnGuarded(() =>
      spawn(program, args, {
        env: {},
        stdio: ['ignore', 'ignore', 'pipe', filter, status],
        timeout: PROBE_TIMEOUT_MS,
      }),
    );
    for (const fd of [filter, status]) closeSync(fd);
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.on('error', (error) => (isScarcity(error) ? reject(error) : resolve(error.message)));
    child.on('close', (code, signal) => {
      // Only we, for taking too long, or a machine out of memory would kill it.
      if (signal) reject(outOfRoom(signal));
      else resolve(code === 0 ? '' : said || `exit code ${code}`);
    });
  });
}
