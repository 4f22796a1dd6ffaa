import { ConfinedEnvironment, type Environment } from '../contract/index.js';
import { namedSandbox, readProfiles } from '../policy/index.js';
import { ExecError } from '../protocol/errors.js';
import type { Sandbox } from '../protocol/index.js';
import { configurationHome } from './configuration-home.js';
import type { OpenOptions, SandboxOptions } from './open-environment.js';

/** Wraps an environment in a policy. Closes the environment if the policy is invalid. */
export async function withDefaultSandbox(
  environment: Environment,
  wanted: NonNullable<OpenOptions['sandbox']>,
  { variables }: Pick<OpenOptions, 'variables'> = {},
): Promise<Environment> {
  try {
    const sandbox = await resolveSandbox(environment, wanted, variables);
    return sandbox === null ? environment : new ConfinedEnvironment(environment, sandbox);
  } catch (error) {
    await environment.close();
    throw error;
  }
}

/** Resolves a requested policy for a machine; null: nothing is confined. */
export async function resolveSandbox(
  environment: Environment,
  wanted: NonNullable<OpenOptions['sandbox']>,
  variables?: NodeJS.ProcessEnv,
): Promise<Sandbox | null> {
  if (isWhole(wanted)) return wanted;
  const named: SandboxOptions = typeof wanted === 'string' ? { policy: wanted } : wanted;
  // Programs in JavaScript are not checked for it, and a policy that was misspelled must not be none.
  if (typeof named?.policy !== 'string')
    throw new ExecError(
      'invalidConfiguration',
      'A sandbox needs a policy: read-only, workspace-write, danger-full-access, or a profile from permissions.toml.',
    );
  // Fixed now: a caller that chooses the directory of a single command must not thereby choose what it may write to.
  const workspace = named.workspace ?? (await environment.info()).cwd ?? null;
  return namedSandbox(named, { workspace, profiles: readProfiles(configurationHome(variables)) });
}

function isWhole(wanted: NonNullable<OpenOptions['sandbox']>): wanted is Sandbox {
  return typeof wanted === 'object' && wanted !== null && 'permissions' in wanted;
}
