import { type AppSandboxPolicy, ExecError, fileUri, isExecError } from '../protocol/index.js';
import { permissionsFromAppPolicy } from './app-policy.js';
import { sandboxOfProfile } from './profile-sandbox.js';
import { findProfile, type Profile } from './profiles.js';
import type { SandboxChooser } from './sandbox-choice.js';

/**
 * What a command runs under: the policy or profile it names, else the server's default. The workspace of a policy
 * is where the environment works; that of a profile is where the command does. `profiles` are the
 * `[permissions.NAME]` tables of the configuration.
 */
export function createSandboxChooser(
  defaultPolicy: AppSandboxPolicy,
  { profiles }: { readonly profiles: unknown },
): SandboxChooser {
  return ({ policy, profile, cwd, workspace }) => {
    if (profile === null)
      return sandboxOfProfile({ permissions: permissionsFromAppPolicy(policy ?? defaultPolicy) }, workspace);
    return sandboxOfProfile(profileNamed(profile, profiles), cwd === undefined ? workspace : fileUri(cwd));
  };
}

function profileNamed(name: string, profiles: unknown): Profile {
  try {
    return findProfile(name, profiles);
  } catch (error) {
    if (!isExecError(error, 'invalidParams')) throw error;
    throw new ExecError('invalidRequest', `invalid permission profile: ${error.message}`, { cause: error });
  }
}
