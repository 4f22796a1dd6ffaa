import { ExecError } from '../../../protocol/errors.js';
import { type HelperName, trustedPath } from '../../kernel/index.js';
import { limitOptions } from '../../spawn/index.js';
import type { ConfineSpec } from '../bwrap/confine.js';
import { WAITING_SHELL } from './launch-script.js';
import type { ConfinedPolicy } from '../../../policy/internal.js';
import type { SandboxSupport } from '../probe/probe.js';
import { isRunnable, type View } from '../plan/visible-program.js';

/** The command bubblewrap runs: the program, preceded by the small tools that prepare its process. */
export interface Launch {
  readonly command: readonly string[];
  /** Set if bubblewrap itself can rename the program. */
  readonly arg0: string | undefined;
}

interface LaunchContext {
  readonly program: string;
  readonly policy: ConfinedPolicy;
  readonly support: Extract<SandboxSupport, { available: true }>;
  readonly view: View;
}

/** Prepends what the program's terminal, process limit and name require to its argv. */
export function launcherFor(
  { argv, arg0, env, terminal, limits }: ConfineSpec,
  { program, policy, support, view }: LaunchContext,
): Launch {
  const tool = (name: HelperName) => findTool(name, view);
  // A session of its own with the terminal as controlling terminal: ^C reaches the program and nothing before it.
  const session = terminal ? [tool('setsid'), '-c', '--'] : [];
  const bounds = [...limitProcesses(policy, support), ...(limits ? limitOptions(limits) : [])];
  const limit = bounds.length === 0 ? [] : [tool('prlimit'), ...bounds, '--'];
  const before = [...session, ...limit];
  // Looked up by the same rules inside, so that the program sees the name it was called by.
  const name = env.PATH === undefined ? program : (argv[0] ?? program);
  const rest = argv.slice(1);
  if (arg0 === undefined || arg0 === argv[0]) return { command: [...before, name, ...rest], arg0: undefined };
  if (before.length === 0 && support.argv0) return { command: [program, ...rest], arg0 };
  return { command: [...before, ...rename(arg0, tool('bash')), program, ...rest], arg0: undefined };
}

/**
 * Older versions of bubblewrap cannot set `argv[0]`. `-p`: bash reads no startup file, whatever the environment says.
 */
function rename(arg0: string, bash: string): string[] {
  return [bash, '-p', '-c', 'exec -a "$0" -- "$@"', arg0];
}

/** Counted per user namespace, hence per sandbox. Root is exempt from this count and gets a control group instead. */
function limitProcesses({ maxProcesses }: ConfinedPolicy, { root }: LaunchContext['support']): string[] {
  return root || maxProcesses === null ? [] : [`--nproc=${maxProcesses}:${maxProcesses}`];
}

/** The shell that can wait in a sandbox for its program. */
export function findWaitingShell(view: View): string {
  return findTool(WAITING_SHELL, view);
}

/** A tool no confined program can have put there, whatever PATH the process is given. */
function findTool(name: HelperName, view: View): string {
  const path = trustedPath()
    .findAll(name)
    .find((program) => isRunnable(program, view));
  if (path !== undefined) return path;
  throw new ExecError('sandboxUnavailable', `The sandbox needs ${name}, which the process cannot see.`, {
    data: {
      reason: 'toolMissing',
      hint: `Install ${name} in /usr/bin, and make it readable and not writable under the policy.`,
    },
  });
}
