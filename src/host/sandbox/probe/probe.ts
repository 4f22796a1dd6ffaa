import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { ExecError } from '../../../protocol/errors.js';
import { hasKernel, isScarcity, trustedPath, trustedProgram } from '../../kernel/index.js';
import { bwrapOptions } from '../bwrap/bwrap-argv.js';
import { mountsPropagate } from '../plan/mount-table.js';
import { explainFailure, gaps, passes, type SandboxGap } from './probe-failure.js';
import { canLimitProcesses } from '../bwrap/process-limit.js';
import { openFilter } from '../seccomp/seccomp.js';
import type { FilterArchitecture } from '../seccomp/syscalls.js';

/** What this machine can enforce. */
export type SandboxSupport =
  | ({ readonly available: false; readonly level: 'none' } & SandboxGap)
  | {
      readonly available: true;
      /** Files, network, processes and system calls are all confined; there is no half way. */
      readonly level: 'full';
      /** The program, absolute. */
      readonly bwrap: string;
      readonly version: string;
      readonly architecture: FilterArchitecture;
      /** We run as root, whose processes no limit counts. */
      readonly root: boolean;
      /** A user namespace must be asked for. Plain users always get one. */
      readonly userNamespace: boolean;
      /** Whether the number of processes inside can be bounded. */
      readonly processLimit: boolean;
      /** bubblewrap can set the name a program sees. */
      readonly argv0: boolean;
      /** bubblewrap can mount what is open, so that nobody swaps it between our look and its mount. */
      readonly bindFd: boolean;
      /** Whether what the host mounts while a program runs reaches it: not by itself, `keptOut` by `privateMountsPrefix`, or it does. */
      readonly laterMounts: 'stayOut' | 'keptOut' | 'reachIt';
    };

/** Options every policy uses; a bubblewrap without one of them is too old. */
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

/** What was found out about each bubblewrap, of which there usually is one, by whom we were then. */
const known = new Map<string, Promise<SandboxSupport>>();

/** A program that embeds us may start as root and then become somebody who has to go other ways. */
function probeKey(bwrap: string | null): string {
  return `${process.getuid?.()} ${process.geteuid?.()} ${bwrap ?? ''}`;
}

/** What this machine can enforce, found out once by doing it. What only fails for the moment is tried again. */
export function sandboxSupport(): Promise<SandboxSupport> {
  const bwrap = trustedProgram('bwrap');
  const key = probeKey(bwrap);
  const probed = known.get(key) ?? probeSandbox({ bwrap });
  known.set(key, probed);
  const forget = () => known.get(key) === probed && known.delete(key);
  probed.then((support) => !support.available && passes(support) && forget(), forget);
  return probed;
}

/** Does something with that. If the policy it is for takes bubblewrap away from us, does it with the next one. */
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

/** Finds out anew. */
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
  // Side by side: the first client waits for this.
  const [help, version, trial] = await Promise.all([
    output(bwrap, ['--help']),
    output(bwrap, ['--version']),
    tryOutWays(bwrap, { architecture, root }),
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
    laterMounts: mountsPropagate() ? await tryApart(bwrap, { architecture, root, userNamespace }) : 'stayOut',
  };
}

async function tryApart(
  bwrap: string,
  {
    architecture,
    root,
    userNamespace,
  }: { architecture: FilterArchitecture; root: boolean; userNamespace: boolean },
): Promise<'keptOut' | 'reachIt'> {
  const prefix = privateMountsPrefix({ root, userNamespace });
  if (prefix === null) return 'reachIt';
  const said = await tryOut(bwrap, { architecture, userNamespace, prefix });
  if (passes(explainFailure(said))) throw outOfRoom(said);
  return said === '' ? 'keptOut' : 'reachIt';
}

/** Root may do without a user namespace, or need one where it is root in a container only. */
async function tryOutWays(
  bwrap: string,
  { architecture, root }: { architecture: FilterArchitecture; root: boolean },
): Promise<{ userNamespace: boolean } | { said: string }> {
  let said = '';
  for (const userNamespace of root ? [false, true] : [false]) {
    said = await tryOut(bwrap, { architecture, userNamespace });
    if (said === '') return { userNamespace };
  }
  return { said };
}

/**
 * Goes in front of bubblewrap where mounts propagate, as they do under systemd. What the host mounts while a sandbox
 * exists would appear inside, writable whatever the policy says; not so if bubblewrap starts among mounts that are private.
 * Null where nothing can be put there.
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

/** Why there is none. */
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
    // One that was killed, by us for taking long or by others, has not answered.
    if (isScarcity(error) || (error as { signal?: unknown }).signal) throw outOfRoom(error);
    return '';
  }
}

function outOfRoom(cause: unknown): Error {
  return new ExecError('spawnFailed', gaps.noRoom.message, { data: { reason: gaps.noRoom.reason }, cause });
}

/**
 * Builds the strictest sandbox around the one program that is certainly there, bubblewrap itself. Returns what
 * went wrong, or nothing.
 */
function tryOut(
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
    const child = spawn(program, args, {
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', filter, status],
      timeout: PROBE_TIMEOUT_MS,
    });
    for (const fd of [filter, status]) closeSync(fd);
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.on('error', (error) => (isScarcity(error) ? reject(error) : resolve(error.message)));
    child.on('close', (code, signal) => {
      // Nobody but us, for taking long, or a machine out of memory kills it.
      if (signal) reject(outOfRoom(signal));
      else resolve(code === 0 ? '' : said || `exit code ${code}`);
    });
  });
}
