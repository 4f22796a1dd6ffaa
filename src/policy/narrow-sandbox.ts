import type { PermissionEntry, Permissions, Sandbox } from '../protocol/index.js';
import { permissionsFromAppPolicy } from './app-policy.js';

/**
 * The same sandbox with nothing writable, no network and no unix sockets: the daemons behind those write for any client. What it
 * hides stays hidden, so the result never allows more than the original.
 */
export function readOnlySandbox(sandbox: Sandbox | null): Sandbox {
  const { unixSockets: _writers, networkRules: _hosts, ...rest } = sandbox ?? {};
  return { ...rest, permissions: readOnlyPermissions(sandbox?.permissions) };
}

function readOnlyPermissions(permissions: Permissions | undefined): Permissions {
  if (permissions?.type !== 'managed' || permissions.file_system.type !== 'restricted')
    return permissionsFromAppPolicy({ type: 'readOnly' });
  const entries = permissions.file_system.entries.map(withoutWriting);
  return {
    type: 'managed',
    file_system: { ...permissions.file_system, entries },
    network: 'restricted',
  };
}

function withoutWriting(entry: PermissionEntry): PermissionEntry {
  return entry.access === 'write' ? { ...entry, access: 'read' } : entry;
}
