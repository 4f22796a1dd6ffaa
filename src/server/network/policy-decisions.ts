import type { Decided } from '../../host/index.js';
import type { ExecServerNotifications, ParamsOf } from '../../protocol/index.js';
import type { Starter } from './ask-clients.js';

type PolicyDecision = ParamsOf<ExecServerNotifications['network/policyDecision']>;

/** Notifies the client of a session of a decision about a host, unless it is away or does not read. */
export function reportDecision(session: Starter, processId: string, decided: Decided): void {
  session.connection?.messages.tell('network/policyDecision', policyDecision(processId, decided));
}

function policyDecision(processId: string, { request, decision, source, reason }: Decided): PolicyDecision {
  const { protocol, host, port, method, client } = request;
  const policyOverride = source === 'decider' && decision === 'allow';
  return {
    processId,
    timestamp: new Date().toISOString(),
    scope: 'domain',
    decision,
    source: source === 'rules' ? 'baseline_policy' : 'decider',
    // What the rules alone would have said.
    reason: policyOverride ? 'not_allowed' : reason,
    protocol,
    host,
    port,
    ...(method === undefined ? {} : { method }),
    ...(client === undefined ? {} : { client }),
    policyOverride,
  };
}
