import type { Mount, MountPlan } from '../plan/mount-plan.js';

/** Everything bubblewrap needs to know about one process. */
export interface BwrapRequest {
  readonly plan: MountPlan;
  readonly network: 'restricted' | 'enabled' | 'managed';
  /** Absolute, without symbolic links. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** With a terminal, the command later becomes leader of its own session and owns it. */
  readonly terminal: boolean;
  /** Root without the privilege to create namespaces needs a user namespace around the others. */
  readonly userNamespace: boolean;
  readonly arg0?: string | undefined;
  /** It does not end with this process: the keeper ends it. */
  readonly outlivesUs?: boolean | undefined;
  /** Descriptor numbers in our child. */
  readonly fds: { readonly seccomp: number; readonly status: number };
  /** Descriptors of places that are already open, by path: these are mounted, even if the path leads elsewhere by then. */
  readonly sources?: ReadonlyMap<string, number>;
  /** What to mount at a path that is not open. Default: the path itself. */
  readonly sourceOf?: ((path: string) => string) | undefined;
}

/** Shared memory inside is private and uses the machine's memory: as much as a browser needs, no more. */
export const SHARED_MEMORY_BYTES = 1024 * 1024 * 1024;

/** The options before the command. Their order is the order of the mounts. */
export function bwrapOptions(request: BwrapRequest): string[] {
  const { plan } = request;
  return [
    ...baseOptions(plan.base),
    ...plan.mounts.flatMap((mount) => mountOptions(mount, request)),
    ...sealOptions(plan),
    ...isolationOptions(request),
    ...environmentOptions(request),
  ];
}

/**
 * The first process inside is bubblewrap's. At first it still has the host's /proc open, through which the whole host
 * can be reached, and the command may be running by then. So its files are hidden from everyone; the filter blocks the
 * other ways in.
 */
const FIRST_PROCESS = '/proc/1';

/** The root of the view and the kernel's own file systems, which rules may refine later. */
function baseOptions(base: MountPlan['base']): string[] {
  const proc = ['--proc', '/proc', '--perms', '0555', '--tmpfs', FIRST_PROCESS];
  if (base === 'unrestricted') return ['--dev-bind', '/', '/', ...proc];
  const shm = ['--perms', '1777', '--size', String(SHARED_MEMORY_BYTES), '--tmpfs', '/dev/shm'];
  const own = ['--dev', '/dev', ...shm, ...proc];
  if (base === 'readOnly') return ['--ro-bind', '/', '/', ...own];
  if (base === 'writable') return ['--bind', '/', '/', '--ro-bind', '/sys', '/sys', ...own];
  return own;
}

function mountOptions(mount: Mount, { sources, sourceOf = (path) => path }: BwrapRequest): string[] {
  const source = sources?.get(mount.path);
  const bind = (option: string) =>
    source === undefined
      ? [option, sourceOf(mount.path), mount.path]
      : [`${option}-fd`, String(source), mount.path];
  switch (mount.kind) {
    case 'readOnly':
      return bind('--ro-bind');
    case 'writable':
      return bind('--bind');
    case 'hiddenDirectory':
      return ['--perms', mount.traversable ? '0111' : '0000', '--tmpfs', mount.path];
    // A device on a nodev mount: it exists but cannot be opened.
    case 'hiddenFile':
      return ['--ro-bind', '/dev/null', mount.path];
    case 'link':
      return ['--symlink', mount.target, mount.path];
  }
}

/**
 * Seals what had to be writable while mounting. All of /proc is read-only: for root without capabilities its switches
 * (core_pattern, sysrq-trigger) would otherwise be a way to run code outside.
 */
function sealOptions({ base, mounts }: MountPlan): string[] {
  const hidden = mounts.filter(({ kind }) => kind === 'hiddenDirectory').map(({ path }) => path);
  const own = [FIRST_PROCESS, '/proc', ...(base === 'unrestricted' ? [] : ['/dev'])];
  const root = base === 'empty' ? ['/'] : [];
  return [...hidden, ...own, ...root].flatMap((path) => ['--remount-ro', path]);
}

function isolationOptions({ network, terminal, userNamespace, outlivesUs, fds }: BwrapRequest): string[] {
  return [
    ...(userNamespace ? ['--unshare-user'] : []),
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    ...(network === 'restricted' ? ['--unshare-net'] : []),
    '--cap-drop',
    'ALL',
    ...(outlivesUs ? [] : ['--die-with-parent']),
    ...(terminal ? [] : ['--new-session']),
    '--seccomp',
    String(fds.seccomp),
    '--json-status-fd',
    String(fds.status),
  ];
}

/** bubblewrap itself gets an empty environment: LD_PRELOAD and the like must take effect inside, not on bubblewrap. */
function environmentOptions({ cwd, env, arg0 }: BwrapRequest): string[] {
  const variables = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]);
  return ['--clearenv', ...variables, ...(arg0 === undefined ? [] : ['--argv0', arg0]), '--chdir', cwd];
}
