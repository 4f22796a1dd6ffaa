import { type ExistingProxyUse, networkUse, type NetworkUse } from '../../host/index.js';
import { ExecError, type ExecParsedParams, type Sandbox } from '../../protocol/index.js';
import { reportDecision } from './policy-decisions.js';
import { type Askable, askClients, type Starter } from './ask-clients.js';
import { askSession } from './policy-questions.js';

type StartParams = Pick<
  ExecParsedParams<'process/start'>,
  'processId' | 'sandbox' | 'networkProxy' | 'enforceManagedNetwork'
>;
type ProxyLaunch = NonNullable<StartParams['networkProxy']>;

/** Questions about hosts name the process. Codex limits that id to this length. */
const MAX_ASKED_ID_BYTES = 256;

/** Enforces nothing but a network. */
const NOTHING_ELSE: Sandbox = { permissions: { type: 'disabled' } };

/** The network a start asks for, and the sandbox that requires; null for none. */
export interface NetworkLaunch {
  readonly sandbox: Sandbox | null;
  readonly network?: NetworkUse | ExistingProxyUse | undefined;
}

/**
 * The network of a start. A proxy is always the only way out: one that programs can bypass would be open to everyone on this
 * machine and confine no one. A start that relies on an existing proxy must name it in its variables, or it is refused.
 */
export function networkLaunch(place: Askable, params: StartParams): NetworkLaunch {
  const { sandbox = null, networkProxy, enforceManagedNetwork = false } = params;
  if (!networkProxy) {
    if (sandbox?.networkRules)
      return { sandbox, network: networkUse(sandbox, askClients(place, params.processId)) };
    if (!enforceManagedNetwork) return { sandbox };
    return { sandbox: sandbox ?? NOTHING_ELSE, network: { existingProxy: true } };
  }
  requireUsable(networkProxy, params);
  if (!enforceManagedNetwork && hasNoNetwork(sandbox)) return { sandbox };
  const { dangerouslyAllowAllUnixSockets } = networkProxy.proxy;
  const around = sandbox ?? NOTHING_ELSE;
  return {
    sandbox: dangerouslyAllowAllUnixSockets ? { ...around, unixSockets: 'allowed' } : around,
    network: proxyUse(place.session, params.processId, networkProxy),
  };
}

function proxyUse(session: Starter, processId: string, launch: ProxyLaunch): NetworkUse {
  const { domains, reviewDomains = [], allowLocalBinding, enableSocks5 } = launch.proxy;
  const those = (wanted: string): string[] =>
    Object.entries(domains ?? {}).flatMap(([pattern, access]) => (access === wanted ? [pattern] : []));
  const timeoutMs = launch.policyDecisionTimeoutMs ?? null;
  return {
    rules: {
      allow: those('allow'),
      deny: those('deny'),
      review: reviewDomains,
      allowPrivate: allowLocalBinding,
    },
    decide: timeoutMs === null ? undefined : askSession(session, { processId, timeoutMs }),
    onDecided: (decided) => reportDecision(session, processId, decided),
    socks: enableSocks5,
    localIsInside: allowLocalBinding,
  };
}

function requireUsable({ proxy, policyDecisionTimeoutMs }: ProxyLaunch, params: StartParams): void {
  if (policyDecisionTimeoutMs != null && !isAddressable(params.processId))
    throw new ExecError(
      'invalidParams',
      `params.processId: 1 to ${MAX_ASKED_ID_BYTES} bytes are needed here`,
    );
  if (params.sandbox?.networkRules)
    throw new ExecError(
      'invalidParams',
      'params: networkProxy and sandbox.networkRules cannot be used together',
    );
  const denied = Object.entries(proxy.domains ?? {}).filter(([, access]) => access === 'deny');
  if (denied.some(([pattern]) => /^\s*(\*|\[\*\])\s*$/.test(pattern)))
    throw new ExecError('invalidParams', 'params.networkProxy.proxy.domains: * can be allowed, not denied');
  if (proxy.mode === 'limited') throw notOffered('limited', 'Use `mode: "full"`.');
  if (proxy.credentialMasking) throw notOffered('credentialMasking', 'Leave `credentialMasking` out.');
}

function hasNoNetwork(sandbox: Sandbox | null): boolean {
  const permissions = sandbox?.permissions;
  return permissions?.type === 'managed' && permissions.network === 'restricted';
}

function isAddressable(processId: string): boolean {
  return processId !== '' && Buffer.byteLength(processId) <= MAX_ASKED_ID_BYTES;
}

/** Both would have to read what programs send through TLS. */
function notOffered(reason: string, hint: string): ExecError {
  return new ExecError(
    'sandboxUnavailable',
    `The network proxy of this server does not open TLS, so it cannot enforce \`${reason}\`. Nothing was run.`,
    { data: { reason, hint } },
  );
}
