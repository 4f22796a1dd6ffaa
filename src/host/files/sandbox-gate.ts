import { ExecError } from '../../protocol/errors.js';
import type { Sandbox } from '../../protocol/index.js';

/** Refuses a policy that file operations of this process cannot be held to. */
export function requireUnconfined(sandbox: Sandbox | null | undefined): void {
  const kind = sandbox?.permissions.type ?? 'disabled';
  if (kind === 'disabled' || kind === 'external') return;
  throw new ExecError('sandboxUnavailable', 'File operations cannot be confined to this policy here.');
}
