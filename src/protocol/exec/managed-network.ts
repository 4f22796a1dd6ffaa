import { z } from 'zod';

const NullableText = z.string().nullish();

/** A proxy that already exists. On Linux, a process finds it in its environment, and this changes nothing. */
export const ManagedNetwork = z.object({
  loopbackPorts: z.array(z.number().int().min(0).max(65_535)).optional(),
  allowLocalBinding: z.boolean().optional(),
  allowUnixSockets: z.array(z.string()).optional(),
  dangerouslyAllowAllUnixSockets: z.boolean().optional(),
});

function isUsableRule([path, rule]: [string, string]): boolean {
  return rule !== 'allow' || (path.startsWith('/') && !path.includes('\0'));
}

/** Unlike everywhere else, unknown members are errors, and the names are those of a configuration file. */
const CredentialProvider = z.strictObject({
  env: z.array(z.string()).optional(),
  patterns: z.array(z.string()).optional(),
  url_prefixes: z.array(z.string()).optional(),
  url_prefix_from_env: NullableText,
  auth: z.array(z.enum(['bearer', 'token', 'basic', 'header'])).optional(),
  header: NullableText,
  prefix: NullableText,
});

const ProxySettings = z.object({
  enabled: z.literal(true).meta({ description: 'A disabled proxy cannot be started.' }),
  enableSocks5: z.boolean(),
  enableSocks5Udp: z.boolean(),
  allowUpstreamProxy: z.boolean(),
  dangerouslyAllowAllUnixSockets: z.boolean(),
  mode: z.enum(['limited', 'full']),
  domains: z.record(z.string(), z.enum(['allow', 'deny', 'none'])).nullish(),
  reviewDomains: z.array(z.string()).optional(),
  unixSockets: z
    .record(z.string(), z.enum(['allow', 'deny']))
    .refine((rules) => Object.entries(rules).every(isUsableRule), {
      message: 'an allowed path must be absolute',
    })
    .nullish(),
  allowLocalBinding: z.boolean(),
  credentialMasking: z.boolean().optional(),
  credentialProviders: z.record(z.string(), CredentialProvider).optional(),
});

/** A proxy the server should start for the process. */
export const NetworkProxyLaunch = z.object({
  proxy: ProxySettings,
  auditMetadata: z
    .object({
      conversationId: NullableText,
      appVersion: NullableText,
      userAccountId: NullableText,
      authMode: NullableText,
      originator: NullableText,
      userEmail: NullableText,
      terminalType: NullableText,
      model: NullableText,
      slug: NullableText,
    })
    .optional()
    .meta({ description: 'Informational.' }),
  environmentId: NullableText.meta({ description: 'Informational.' }),
  executionId: NullableText.meta({ description: 'Informational.' }),
  policyDecisionTimeoutMs: z.number().int().min(1).nullish().meta({
    description: 'How long the client may take to decide about a host. Absent: the client is not asked.',
  }),
});
