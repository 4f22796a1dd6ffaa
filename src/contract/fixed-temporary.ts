import type { Sandbox } from '../protocol/index.js';

/**
 * The policy for a command with a TMPDIR of its own: the right to choose a command's variables must not include the right to
 * choose what it may write to. `own` are the temporary directories of its machine, if known.
 */
export function withFixedTemporary(sandbox: Sandbox, own: readonly string[] = []): Sandbox {
  const { permissions, temporaryDirectories } = sandbox;
  if (permissions.type !== 'managed' || permissions.file_system.type !== 'restricted') return sandbox;
  if (temporaryDirectories?.length) return sandbox;
  if (own.length > 0) return { ...sandbox, temporaryDirectories: [...own] };
  const { entries, ...files } = permissions.file_system;
  const kept = entries.filter(
    ({ path, access }) => access === 'none' || path.type !== 'special' || path.value.kind !== 'tmpdir',
  );
  return { ...sandbox, permissions: { ...permissions, file_system: { ...files, entries: kept } } };
}
