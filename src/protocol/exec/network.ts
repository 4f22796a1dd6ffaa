import { z } from 'zod';

const HostPattern = z.string().min(1).max(300);

/** Which hosts a confined process may reach. */
export const NetworkRules = z.object({
  allow: z
    .array(HostPattern)
    .max(1_000)
    .meta({
      description:
        '`example.com`, `*.example.com` for every name below it, `**.example.com` for both, `*` for all; `:443` behind ' +
        'it for one port. Private and local addresses are only reached if they are named.',
    }),
  deny: z.array(HostPattern).max(1_000).optional().meta({ description: 'Beats `allow`.' }),
});
export type NetworkRules = z.input<typeof NetworkRules>;

/** A host that the rules kept a process from. */
export const NetworkDenial = z.object({
  host: z.string(),
  port: z.number().int(),
  reason: z.string().meta({
    description: '`not_allowed`, `denied`, or `not_allowed_local` for a private or local address.',
  }),
});
export type NetworkDenial = z.output<typeof NetworkDenial>;

/** How a process ended, with the hosts it was kept from. */
export const NetworkDenied = z
  .array(NetworkDenial)
  .optional()
  .meta({ description: 'Extension `networkRules`: the hosts it was kept from, at most 16. Absent: none.' });
