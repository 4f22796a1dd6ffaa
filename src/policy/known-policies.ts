import type { Sandbox } from '../protocol/index.js';
import { contextOf, policyFromPermissions } from './permissions.js';
import type { SandboxPolicy } from './policy.js';

/** A client uses one or two policies at a time, and there are few clients. */
const MAX_KNOWN = 32;

/** Longer requests are rare, and not worth the memory. */
const MAX_KEY_CHARACTERS = 16 * 1024;

/** Least recently used first. */
const known = new Map<string, SandboxPolicy>();

/**
 * Resolves a request's policy. The result depends on the request alone, not on what is on disk, and requests repeat, so
 * recent ones are cached.
 */
export function policyOfRequest(
  sandbox: Sandbox,
  { cwd, temporary }: { readonly cwd: string; readonly temporary: string | undefined },
): SandboxPolicy {
  const key = JSON.stringify([sandbox, cwd, temporary]);
  const policy = known.get(key) ?? resolve(sandbox, { cwd, temporary });
  known.delete(key);
  if (key.length <= MAX_KEY_CHARACTERS) known.set(key, policy);
  if (known.size > MAX_KNOWN) forgetOldest();
  return policy;
}

function resolve(
  sandbox: Sandbox,
  { cwd, temporary }: { cwd: string; temporary: string | undefined },
): SandboxPolicy {
  const env = temporary === undefined ? {} : { TMPDIR: temporary };
  return policyFromPermissions(sandbox.permissions, contextOf(sandbox, { cwd, env }));
}

function forgetOldest(): void {
  for (const key of known.keys()) {
    known.delete(key);
    return;
  }
}
