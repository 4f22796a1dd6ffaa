import { pathToFileURL } from 'node:url';
import type { AppSandboxPolicy, PermissionEntry, Permissions, SpecialPath } from '../protocol/index.js';

const special = (value: SpecialPath, access: 'read' | 'write'): PermissionEntry => ({
  path: { type: 'special', value },
  access,
});

/** Converts a `sandboxPolicy` to permissions. Its workspace is the server's cwd, taken from the context. */
export function permissionsFromAppPolicy(policy: AppSandboxPolicy): Permissions {
  switch (policy.type) {
    case 'dangerFullAccess':
      return { type: 'disabled' };
    case 'externalSandbox':
      return { type: 'external', network: policy.networkAccess ?? 'restricted' };
    case 'readOnly':
      return managed([special({ kind: 'root' }, 'read')], policy.networkAccess);
    case 'workspaceWrite': {
      const roots = (policy.writableRoots ?? []).map(writableRoot);
      const entries = [
        special({ kind: 'root' }, 'read'),
        special({ kind: 'project_roots' }, 'write'),
        ...roots,
      ];
      if (!policy.excludeSlashTmp) entries.push(special({ kind: 'slash_tmp' }, 'write'));
      if (!policy.excludeTmpdirEnvVar) entries.push(special({ kind: 'tmpdir' }, 'write'));
      return managed(entries, policy.networkAccess);
    }
  }
}

function managed(entries: PermissionEntry[], networkAccess = false): Permissions {
  return {
    type: 'managed',
    file_system: { type: 'restricted', entries },
    network: networkAccess ? 'enabled' : 'restricted',
  };
}

function writableRoot(path: string): PermissionEntry {
  return { path: { type: 'path', path: pathToFileURL(path).href }, access: 'write' };
}
