import { z } from 'zod';
import { notification, request } from '../method.js';
import { ProcessId } from './common.js';

const HostPattern = z.string().min(1).max(300);

/** Which hosts a confined process may reach. */
export const NetworkRules = z.object({
  allow: z
    .array(HostPattern)
    .max(1_000)
    .meta({
      description:
        '`example.com`, `*.example.com` for every name below it, `**.example.com` for both, `*` for all; a suffix such ' +
        'as `:443` for one port. Private and local addresses can be reached only if they are named.',
    }),
  deny: z.array(HostPattern).max(1_000).optional().meta({ description: 'Beats `allow`.' }),
  ask: z
    .boolean()
    .optional()
    .meta({
      description:
        'Extension `networkAsk`: ask the client about all other hosts, with `network/policyRequest`. Private and local ' +
        'addresses are denied without asking.',
    }),
});
export type NetworkRules = z.input<typeof NetworkRules>;

/** A host that the rules kept a process from. */
export const NetworkDenial = z.object({
  host: z.string(),
  port: z.number().int(),
  reason: z.string().meta({
    description:
      '`not_allowed`, `denied`, `not_allowed_local` for a private or local address, `declined` by the person or program ' +
      'that was asked, `unanswered`, `other_name` for a host that a TLS handshake named on a connection to another one, ' +
      'or the reason a client gave.',
  }),
});
export type NetworkDenial = z.output<typeof NetworkDenial>;

/** How a process ended, with the hosts it was kept from. */
export const NetworkDenied = z
  .array(NetworkDenial)
  .optional()
  .meta({ description: 'Extension `networkRules`: the hosts it was denied, at most 16. Absent: none.' });

/** How a program asked for a host. */
const Protocol = z
  .enum(['http', 'https_connect', 'socks5_tcp', 'socks5_udp'])
  .meta({ description: 'A plain HTTP request, CONNECT, or SOCKS 5.' });

/** A host that the rules do not know. */
export const NetworkQuestion = z.object({ protocol: Protocol, host: z.string(), port: z.number().int() });
export type NetworkQuestion = z.output<typeof NetworkQuestion>;

const DecisionReason = z.string().meta({ description: 'Told to the program. At most 1,024 bytes.' });

/** What a client decides about a host. `ask` blocks it as well. */
export const NetworkDecision = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('allow'),
    remember: z.literal('session').optional().meta({
      description: 'Extension `networkAsk`: do not ask about this host again in this session.',
    }),
  }),
  z.object({ type: z.literal('deny'), reason: DecisionReason }),
  z.object({ type: z.literal('ask'), reason: DecisionReason }),
]);
export type NetworkDecision = z.output<typeof NetworkDecision>;

export const networkPolicyRequest = request({
  doc:
    'Asks the client whether a process may reach a host that its rules do not cover. The connection waits. At most 256 ' +
    'questions are open per connection; without an answer in time, the host is denied.',
  params: z.object({ processId: ProcessId, request: NetworkQuestion }),
  result: z.object({ decision: NetworkDecision }),
});

export const networkPolicyDecision = notification({
  doc:
    'Reports the decision about a request from a process that was started with `networkProxy`. Dropped if the client does not ' +
    'read, or is not connected.',
  params: z.object({
    processId: ProcessId,
    timestamp: z.string(),
    scope: z.enum(['domain', 'non_domain']),
    decision: z.enum(['allow', 'deny', 'ask']),
    source: z
      .enum(['baseline_policy', 'mode_guard', 'proxy_state', 'decider'])
      .meta({ description: '`decider`: the client.' }),
    reason: z.string(),
    protocol: Protocol,
    host: z.string(),
    port: z.number().int(),
    method: z.string().optional().meta({ description: 'Absent with SOCKS.' }),
    client: z.string().optional().meta({ description: 'Where in the sandbox it came from.' }),
    policyOverride: z
      .boolean()
      .meta({ description: 'The client allowed what the rules alone would have denied.' }),
  }),
});
