import { fileUri, isFileUri, type Sandbox } from '../protocol/index.js';
import type { Profile } from './profiles.js';

/**
 * Converts a profile to its wire form. The profile's relative paths start at the workspace (an absolute path or a
 * `file:` URI). Null for a profile that confines nothing.
 */
export function sandboxOfProfile(profile: Profile, workspace: string | null): Sandbox | null {
  const { permissions, protectedNames, unixSockets, maxProcesses, networkRules } = profile;
  if (permissions.type !== 'managed') return null;
  const root = workspace === null || isFileUri(workspace) ? workspace : fileUri(workspace);
  return {
    permissions,
    ...(root === null ? {} : { cwd: root, workspaceRoots: [root] }),
    ...(protectedNames === undefined ? {} : { protectedNames: [...protectedNames] }),
    ...(unixSockets === undefined ? {} : { unixSockets }),
    ...(maxProcesses === undefined ? {} : { maxProcesses }),
    ...(networkRules === undefined ? {} : { networkRules }),
  };
}
