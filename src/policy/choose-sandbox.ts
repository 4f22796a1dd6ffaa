import { type AppSandboxPolicy, ExecError, fileUri, isExecError } from '../protocol/index.js';
import { permissionsFromAppPolicy } from './app-policy.js';
import { sandboxOfProfile } from './profile-sandbox.js';
import { findProfile, type Profile } from './profiles.js';
import type { SandboxChooser } from './sandbox-choice.js';

/**
 * Chooses the sandbox of a command: from the policy or profile in the request, else from the server's default. A
 * policy's workspace is the environment's working directory; a profile's is the command's. `profiles` are the
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
