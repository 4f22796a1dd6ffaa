import { ExecError } from '../../../protocol/errors.js';
import type { ProcessLimits, SandboxType } from '../../../protocol/index.js';
import { isScarcity, openBytes, spawnFailures, trustedPath, trustedProgram } from '../../kernel/index.js';
import { bwrapOptions } from './bwrap-argv.js';
import type { Disk } from '../plan/disk.js';
import { planNow } from '../plan/known-plans.js';
import { REPORT_FD, SCRIPT_FD } from '../launch/launch-script.js';
import { type MountPlan, planMounts } from '../plan/mount-plan.js';
import { noteNetworkGrant } from '../launch/network-grant.js';
import { withFixedKernelMounts, withoutKernelMounts } from '../plan/mount-table.js';
import type { ConfinedPolicy, SandboxPolicy } from '../../../policy/internal.js';
import { type SandboxSupport, privateMountsPrefix, withoutBwrap } from '../probe/probe.js';
import { gaps, type SandboxGap } from '../probe/probe-failure.js';
import { Protection } from '../launch/protection.js';
import { checkCwd, locateVisibleProgram } from '../plan/visible-program.js';
import { Resources } from './resources.js';
import { openFilter } from '../seccomp/seccomp.js';
import { launcherFor } from '../launch/launcher.js';
import { type HeldView, hostView } from '../plan/file-view.js';
import { withMountPoints } from '../plan/mount-points.js';
import type { ChildKeeping } from '../../spawn/index.js';
import type { SandboxStatus } from '../launch/status.js';
import { lookAt, viewIdentity } from '../launch/view-identity.js';

/** A program to run, fully specified except for its sandbox. */
export interface ConfineSpec {
  readonly argv: readonly string[];
  readonly arg0?: string | undefined;
  /** Absolute. */
  readonly cwd: string;
  /** The complete environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly terminal: boolean;
  /** For each process of its tree. */
  readonly limits?: ProcessLimits | undefined;
  /** A descriptor of ours, passed to the program as `SCRIPT_FD`. We take ownership. */
  readonly script?: number;
  /** The same as `REPORT_FD`, for a waiting shell. It gets nothing else of ours but its streams. */
  readonly report?: number;
}

/** What to start instead, and how to treat it. */
export interface Confinement {
  readonly argv: readonly string[];
  readonly arg0?: string | undefined;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Our descriptors the child needs. No others may reach it. */
  readonly inheritFds: readonly { readonly childFd: number; readonly fd: number }[];
  /** Where the program was found. */
  readonly program: string;
  /** What is actually enforced. */
  readonly sandboxType: SandboxType;
  /**
   * Who makes the terminal the controlling one. `inside`: it must not become that of the process started here (open it
   * with O_NOCTTY), or ^C would kill the sandbox instead of reaching the program.
   */
  readonly controllingTerminal: 'caller' | 'inside';
  /**
   * Identifies what the sandbox shows of the disk, for comparison with a later `viewIdentity`. Only before `release`.
   */
  viewIdentity(): string;
  /** Closes our copies of the descriptors once the child has been started, or could not be. Idempotent. */
  release(): void;
  /** Frees what it holds on disk when this process is about to exit and will not learn of the sandbox's end. */
  abandon(): void;
  /** Signals for a confined process and its true end; null without a sandbox. */
  readonly status: SandboxStatus | null;
}

/** Descriptor numbers inside bubblewrap, which closes them before the command runs. */
const ARGUMENTS_FD = 3;
const ARGUMENTS: readonly string[] = ['--args', String(ARGUMENTS_FD)];

/** This is the default. Stated on the command line, it shows our other servers what the program can reach. */
const SHARE_NETWORK = '--share-net';

/** How the command line of bubblewrap begins, behind its name, if a program shares the network of this machine. */
export const SHARED_NETWORK: readonly string[] = [...ARGUMENTS, SHARE_NETWORK];
const SECCOMP_FD = 4;
const STATUS_FD = 5;
/** Last, since there may be many. */
const FIRST_SOURCE_FD = 6;

/** bubblewrap gives up at 9000 arguments; an environment beyond this limit gets a clear error instead. */
const MAX_OPTIONS = 8_900;

/** How to confine it. */
export interface ConfineOptions {
  readonly policy: SandboxPolicy;
  readonly support: SandboxSupport;
  readonly disk?: Disk;
  /** Under a policy that manages it: the network to join. */
  readonly network?: NetworkToJoin | undefined;
  /** The files it sees, if its changes are held. */
  readonly held?: HeldView | undefined;
  /** What the patterns of the policy match, see `findHidden`. Default: it is searched for. */
  readonly hidden?: readonly string[] | undefined;
  /** Set if it does not end with this process. */
  readonly keeping?: ChildKeeping | undefined;
}

/** A network namespace that exists already. */
export interface NetworkToJoin {
  /** Arguments of `nsenter`. */
  readonly enter: readonly string[];
}

/**
 * Puts a program under a policy: returns the program unchanged if there is nothing to enforce, throws if the policy
 * cannot be enforced.
 */
export function confine(
  spec: ConfineSpec,
  { policy, support, disk, network, held, hidden, keeping }: ConfineOptions,
): Confinement {
  if (policy.kind === 'open') return unconfined(spec);
  // Before any of it exists, so that no connection slips through in between.
  if (policy.network === 'enabled') noteNetworkGrant();
  const files = held ?? hostView;
  const resources = new Resources(files);
  try {
    if (spec.script !== undefined) resources.pass(SCRIPT_FD, spec.script);
    if (spec.report !== undefined) resources.pass(REPORT_FD, spec.report);
    if (!support.available) throw unavailable(support);
    const view = disk ? { plan: planMounts(policy.files, disk), disk } : planNow(policy.files, files, hidden);
    requireTrusted(support.bwrap, view.plan);
    checkCwd(spec.cwd, view);
    const program = locateVisibleProgram(spec, view);
    const { command, arg0 } = launcherFor(spec, { program, policy, support, view });
    const plan = resources.holdPlaceholders(held ? withMountPoints(view.plan, held) : view.plan);
    const firstSource = firstFreeFd(spec);
    const options = bwrapOptions({
      plan:
        policy.maxProcesses === null
          ? withoutKernelMounts(plan)
          : withFixedKernelMounts(withoutKernelMounts(plan)),
      network: policy.network,
      cwd: spec.cwd,
      env: confinedEnv(spec.env, policy),
      terminal: spec.terminal,
      userNamespace: support.userNamespace,
      outlivesUs: keeping !== undefined,
      arg0,
      fds: { seccomp: SECCOMP_FD, status: STATUS_FD },
      // Descriptors opened here do not lead into the namespaces of a held view.
      sources: support.bindFd && !held ? resources.openSources(plan.mounts, firstSource) : new Map(),
      sourceOf: held && ((path) => held.sourceOf(path)),
    });
    const { architecture } = support;
    resources.pass(ARGUMENTS_FD, openBytes(encodeOptions(options)));
    resources.pass(SECCOMP_FD, openFilter({ architecture, unixSockets: policy.unixSockets }));
    const status = resources.openStatus(STATUS_FD, { terminal: spec.terminal });
    const hold = (next: MountPlan) => resources.holdPlaceholders(next);
    const guarded = { files: policy.files, plan, disk: view.disk, view: files, status, hold, keeping };
    resources.guard(Protection.of(guarded));
    const limit = support.root && policy.maxProcesses !== null ? resources.limit(policy.maxProcesses) : [];
    const managed = policy.network === 'managed' ? enterNetwork(network) : [];
    const mounts = held ? enterMounts(held) : separateMounts(support);
    return {
      argv: [
        ...limit,
        ...managed,
        ...mounts,
        support.bwrap,
        ...ARGUMENTS,
        ...(policy.network === 'enabled' ? [SHARE_NETWORK] : []),
        '--',
        ...command,
      ],
      cwd: '/',
      env: {},
      inheritFds: resources.inheritFds,
      program,
      sandboxType: 'linuxSeccomp',
      controllingTerminal: spec.terminal ? 'inside' : 'caller',
      // Only mounts that were actually made: a name that could not be blocked now may be blockable later.
      viewIdentity: () =>
        viewIdentity(plan, { held, look: (mount) => resources.opened(mount) ?? lookAt(mount, files) }),
      release: () => resources.release(),
      abandon: () => resources.cleanUp(),
      status,
    };
  } catch (error) {
    resources.release();
    resources.cleanUp();
    throw explained(error);
  }
}

/** Many files are opened on the way to a sandbox, any of which may be one too many. */
function explained(error: unknown): unknown {
  if (error instanceof ExecError || !isScarcity(error)) return error;
  return spawnFailures.noRoom((error as NodeJS.ErrnoException).code);
}

/** The first descriptor number the program does not use. */
function firstFreeFd({ script, report }: ConfineSpec): number {
  if (report !== undefined) return REPORT_FD + 1;
  return script === undefined ? FIRST_SOURCE_FD : SCRIPT_FD + 1;
}

/** Plans already checked for what they let programs change. */
const examined = new WeakSet<MountPlan>();

/** A program that can replace bubblewrap, or a wrapper around it, could no longer be confined. */
function requireTrusted(bwrap: string, plan: MountPlan): void {
  if (!examined.has(plan)) trustedPath().distrust(plan.accessAt);
  examined.add(plan);
  if (!trustedPath().findAll('bwrap').includes(bwrap)) throw unavailable(withoutBwrap());
}

function separateMounts(support: Extract<SandboxSupport, { available: true }>): readonly string[] {
  if (support.laterMounts !== 'keptOut') return [];
  const prefix = privateMountsPrefix(support);
  if (prefix === null) throw unavailable(gaps.bubblewrapWritable);
  return prefix;
}

/** Its namespaces are private, too. */
function enterMounts({ enter }: HeldView): readonly string[] {
  const nsenter = trustedProgram('nsenter');
  if (nsenter === null) throw unavailable(gaps.changesNotHeld);
  return [nsenter, ...enter, '--'];
}

function enterNetwork(network: NetworkToJoin | undefined): readonly string[] {
  const nsenter = trustedProgram('nsenter');
  if (nsenter === null || network === undefined) throw unavailable(gaps.networkNotManaged);
  return [nsenter, ...network.enter, '--'];
}

/**
 * In bubblewrap's format: each ends with a NUL. A NUL inside would turn the rest of the value into an option of the
 * caller's choice.
 */
function encodeOptions(options: readonly string[]): Uint8Array {
  if (options.length > MAX_OPTIONS) throw tooManyOptions();
  if (options.some((option) => option.includes('\0')))
    throw new ExecError('invalidParams', 'A path or a variable of the sandbox contains a NUL byte.');
  return Buffer.from(`${options.join('\0')}\0`);
}

function unconfined({ argv, arg0, cwd, env, script }: ConfineSpec): Confinement {
  const resources = new Resources();
  if (script !== undefined) resources.pass(SCRIPT_FD, script);
  return {
    argv,
    arg0,
    cwd,
    env,
    inheritFds: resources.inheritFds,
    program: argv[0] ?? '',
    sandboxType: 'none',
    controllingTerminal: 'caller',
    viewIdentity: () => '',
    release: () => resources.release(),
    abandon: () => {},
    status: null,
  };
}

/** Programs check this variable before they try to reach the network. */
export function confinedEnv(
  env: Readonly<Record<string, string>>,
  { network }: ConfinedPolicy,
): Readonly<Record<string, string>> {
  return network === 'restricted' ? { ...env, CODEX_SANDBOX_NETWORK_DISABLED: '1' } : env;
}

function unavailable({ reason, hint, message }: SandboxGap): ExecError {
  return new ExecError('sandboxUnavailable', message, { data: { reason, hint } });
}

function tooManyOptions(): ExecError {
  return new ExecError('spawnFailed', 'The environment has too many variables for a sandbox.', {
    data: { reason: 'invalidArgument' },
  });
}
