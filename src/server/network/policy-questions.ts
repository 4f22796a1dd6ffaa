import type { Decision, NetworkRequest } from '../../host/index.js';
import { execServerRequests, type NetworkDecision } from '../../protocol/index.js';
import type { Starter } from './ask-clients.js';

/** Time for an answer to travel, beyond the time the client has to decide. The same as Codex's. */
const ANSWER_GRACE_MS = 5_000;

/** A longer reason is not passed on. The same as Codex's. */
const MAX_REASON_BYTES = 1024;

/** The reason given for a client that denies a host without one. */
const NO_REASON = 'policy_denied';

/** The answer while no decision has been made. */
const UNDECIDED: Decision = { type: 'deny', reason: 'not_allowed' };

/** A decider that asks the client of a session about every request. While none is connected, hosts are denied. */
export function askSession(
  session: Starter,
  { processId, timeoutMs }: { processId: string; timeoutMs: number },
): (request: NetworkRequest, signal: AbortSignal) => Promise<Decision> {
  return async ({ protocol, host, port }, signal) => {
    const params = { processId, request: { protocol, host, port } };
    const deadline = { timeoutMs: timeoutMs + ANSWER_GRACE_MS, signal };
    try {
      const answer = await session.connection?.messages.ask('network/policyRequest', params, deadline);
      const { decision } = execServerRequests['network/policyRequest'].result.parse(answer);
      return usable(decision);
    } catch {
      return UNDECIDED;
    }
  };
}

function usable(decision: NetworkDecision): Decision {
  if (decision.type === 'allow') return decision;
  const { type, reason } = decision;
  const isUnusable = Buffer.byteLength(reason) > MAX_REASON_BYTES || /\p{Cc}/u.test(reason);
  return { type, reason: isUnusable ? 'not_allowed' : reason || NO_REASON };
}
