import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import type { SandboxChooser } from '../app/index.js';
import { configurationHome } from '../environment/index.js';
import { permissionsFromAppPolicy } from '../host/index.js';
import { findProfile, type Profile } from './profiles.js';
import { type AppSandboxPolicy, ExecError, fileUri, isExecError, type Sandbox } from '../protocol/index.js';

const PROFILES_FILE = 'permissions.toml';

/**
 * What a command runs under: the policy or profile it names, else the server's default. The workspace of a policy
 * is where the environment works; that of a profile is where the command does.
 */
export function createSandboxChooser(defaultPolicy: AppSandboxPolicy): SandboxChooser {
  const profiles = readProfiles();
  return ({ policy, profile, cwd, workspace }) => {
    if (profile === null)
      return sandboxOf({ permissions: permissionsFromAppPolicy(policy ?? defaultPolicy) }, workspace);
    return sandboxOf(profileNamed(profile, profiles), cwd === undefined ? workspace : fileUri(cwd));
  };
}

/** The `[permissions.NAME]` tables of the configuration; none without a file. */
function readProfiles(): unknown {
  const path = join(configurationHome(), PROFILES_FILE);
  if (!existsSync(path)) return {};
  try {
    return parse(readFileSync(path, 'utf8')).permissions ?? {};
  } catch (cause) {
    throw new ExecError('invalidConfiguration', `${path} is not valid TOML.`, { cause });
  }
}

function profileNamed(name: string, profiles: unknown): Profile {
  try {
    return findProfile(name, profiles);
  } catch (error) {
    if (!isExecError(error, 'invalidParams')) throw error;
    throw new ExecError('invalidRequest', `invalid permission profile: ${error.message}`, { cause: error });
  }
}

function sandboxOf(profile: Profile, root: string | null): Sandbox | null {
  const { permissions, protectedNames, unixSockets, maxProcesses } = profile;
  if (permissions.type !== 'managed') return null;
  return {
    permissions,
    ...(root === null ? {} : { cwd: root, workspaceRoots: [root] }),
    ...(protectedNames === undefined ? {} : { protectedNames: [...protectedNames] }),
    ...(unixSockets === undefined ? {} : { unixSockets }),
    ...(maxProcesses === undefined ? {} : { maxProcesses }),
  };
}
