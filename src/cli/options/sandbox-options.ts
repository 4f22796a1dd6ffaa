import type { Command } from 'commander';
import type { Environment } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import type { NetworkRules, Sandbox } from '../../protocol/index.js';
import { resolvePath } from './copy-location.js';
import { collect, collectHosts } from './option-values.js';

/** The flags that confine a command. */
export interface SandboxFlags {
  readonly sandbox?: string;
  readonly writable: readonly string[];
  readonly network?: true | NetworkRules;
  readonly hold?: boolean;
  readonly changes?: string;
}

/** Adds the options that confine a command. */
export function withSandbox(command: Command): Command {
  return command
    .optionsGroup('Sandbox:')
    .option('--sandbox <policy>', 'confine it: read-only, workspace-write, or a profile of permissions.toml')
    .option(
      '--writable <directory>',
      'with --sandbox or --hold: may be written to as well; repeatable',
      collect,
      [],
    )
    .option(
      '--network [rules]',
      'with --sandbox or --hold: let it reach the network; with allow=HOST,… and deny=HOST,… only these hosts, with ask also those that you allow',
      collectHosts,
    )
    .option(
      '--hold',
      'hold what it changes until you apply it, see `execwire changes`; implies --sandbox workspace-write',
    )
    .option('--changes <id>', 'with --hold: the set of changes to continue, or the name of a new one')
    .optionsGroup('');
}

/**
 * Resolves the flags for a machine. Undefined without --sandbox; null if the policy confines nothing. The workspace is
 * `cwd`, or the environment's working directory.
 */
export async function sandboxFrom(
  flags: SandboxFlags,
  environment: Environment,
  { cwd }: { cwd?: string | undefined } = {},
): Promise<Sandbox | null | undefined> {
  const { writable, network, hold = false, changes } = flags;
  const policy = flags.sandbox ?? (hold ? 'workspace-write' : undefined);
  if (policy === undefined) return undefined;
  const { resolveSandbox } = await import('../../environment/index.js');
  const directories = await Promise.all(writable.map((path) => resolvePath(environment, path)));
  const sandbox = await resolveSandbox(environment, {
    policy,
    writable: directories,
    network,
    workspace: cwd,
  });
  return hold ? holding(sandbox, changes) : sandbox;
}

/** Changes are kept until they are applied or discarded, because the next command is another client. */
function holding(sandbox: Sandbox | null, changesId: string | undefined): Sandbox {
  if (sandbox === null)
    throw new ExecError('invalidConfiguration', '--hold needs a policy that restricts what can be written.');
  return {
    ...sandbox,
    changes: 'hold',
    changesLease: 'kept',
    ...(changesId === undefined ? {} : { changesId }),
  };
}

/** Whether there may be questions about hosts: the rules, or those of a profile, may say `ask`. */
export function asksAboutHosts({ sandbox, network }: SandboxFlags): boolean {
  if (sandbox === undefined) return false;
  return network === undefined
    ? !BUILT_IN_POLICIES.includes(sandbox)
    : network !== true && network.ask === true;
}

/** Policies that are not profiles of `permissions.toml`. */
export const BUILT_IN_POLICIES: readonly string[] = ['read-only', 'workspace-write', 'danger-full-access'];
