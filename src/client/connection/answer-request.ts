import type { NetworkAnswer, NetworkAsker } from '../../contract/index.js';
import { ExecError, execServerRequests, type NetworkDecision } from '../../protocol/index.js';
import { validate } from '../../rpc/index.js';

const METHOD = 'network/policyRequest';

const DECISIONS: Readonly<Record<NetworkAnswer, NetworkDecision>> = {
  once: { type: 'allow' },
  session: { type: 'allow', remember: 'session' },
  deny: { type: 'deny', reason: 'declined' },
};

/** Answers a request of the server. The only ones a client knows are questions about hosts. */
export function answerRequest(
  method: string,
  params: unknown,
  asker: NetworkAsker | undefined,
): Promise<{ decision: NetworkDecision }> {
  if (method !== METHOD || !asker)
    throw new ExecError('methodNotFound', `unknown method: ${method.slice(0, 100)}`);
  const { processId, request } = validate(execServerRequests[METHOD].params, params);
  return decide(asker, { processId, ...request });
}

async function decide(
  asker: NetworkAsker,
  question: Parameters<NetworkAsker>[0],
): Promise<{ decision: NetworkDecision }> {
  return { decision: DECISIONS[await asker(question)] ?? DECISIONS.deny };
}
