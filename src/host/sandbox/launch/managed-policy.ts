import type { ConfinedPolicy, SandboxPolicy } from '../../../policy/internal.js';
import type { NetworkToJoin } from '../bwrap/confine.js';

const known = new WeakMap<NetworkToJoin, WeakMap<SandboxPolicy, ConfinedPolicy>>();

/**
 * The same policy with a network that a proxy manages. Where there was nothing to enforce, now there is. One per policy and
 * network: a sandbox made in advance for this very object is in this very network.
 */
export function managedPolicy(policy: SandboxPolicy, network: NetworkToJoin): ConfinedPolicy {
  const ofNetwork = known.get(network) ?? new WeakMap<SandboxPolicy, ConfinedPolicy>();
  known.set(network, ofNetwork);
  const managed = ofNetwork.get(policy) ?? { ...confined(policy), network: 'managed' };
  ofNetwork.set(policy, managed);
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
