import type { Sandbox } from '../protocol/index.js';
import type { Profile } from './profiles.js';

/** A profile as it goes over the wire, for a project directory (a `file:` URI); null when it confines nothing. */
export function sandboxFromProfile(profile: Profile, root: string | null): Sandbox | null {
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
