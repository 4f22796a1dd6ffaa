import type { Command } from 'commander';
import type { Environment } from '../../contract/index.js';
import { ExecError } from '../../protocol/errors.js';
import type { Sandbox } from '../../protocol/index.js';
import { resolvePath } from './copy-location.js';
import { collect } from './option-values.js';

/** What a command may touch. */
export interface SandboxFlags {
  readonly sandbox?: string;
  readonly writable: readonly string[];
  readonly network?: boolean;
}

/** Adds the options that confine what is run. */
export function withSandbox(command: Command): Command {
  return command
    .option('--sandbox <policy>', 'confine it: read-only, workspace-write, or a profile of permissions.toml')
    .option('--writable <directory>', 'with --sandbox: may be written to as well; repeatable', collect, [])
    .option('--network', 'with --sandbox: let it reach the network');
}

/**
 * What the flags mean on a machine; undefined without --sandbox, null where it asks for no confinement. The project is
 * `cwd`, or where the environment works.
 */
export async function sandboxFrom(
  flags: SandboxFlags,
  environment: Environment,
  { cwd }: { cwd?: string | undefined } = {},
): Promise<Sandbox | null | undefined> {
  const { sandbox: policy, writable, network } = flags;
  if (policy === undefined) {
    if (writable.length === 0 && network === undefined) return undefined;
    throw new ExecError('invalidConfiguration', '--writable and --network need --sandbox POLICY.');
  }
  const { resolveSandbox } = await import('../../environment/index.js');
  const directories = await Promise.all(writable.map((path) => resolvePath(environment, path)));
  return await resolveSandbox(environment, { policy, writable: directories, network, workspace: cwd });
}
