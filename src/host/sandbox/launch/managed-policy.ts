import type { ConfinedPolicy, SandboxPolicy } from '../../../policy/internal.js';

/** One per policy: whatever is kept for a policy is kept for this very object. */
const known = new WeakMap<SandboxPolicy, ConfinedPolicy>();

/** The same policy with a network that a proxy manages. Where there was nothing to enforce, now there is. */
export function managedPolicy(policy: SandboxPolicy): ConfinedPolicy {
  const managed = known.get(policy) ?? { ...confined(policy), network: 'managed' };
  known.set(policy, managed);
  return managed;
}

function confined(policy: SandboxPolicy): ConfinedPolicy {
  if (policy.kind === 'confined') return policy;
  // The host's sockets lead out past any proxy.
  return {
    kind: 'confined',
    files: { kind: 'unrestricted' },
    network: 'managed',
    unixSockets: 'blocked',
    maxProcesses: null,
  };
}
