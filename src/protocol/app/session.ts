import { z } from 'zod';
import { notification, request } from '../method.js';

export const initialize = request({
  doc: 'Begins a connection. Every other request needs it; a refused one may be tried again.',
  params: z.object({
    clientInfo: z.object({
      name: z.string().meta({ description: 'Must be fit for an HTTP header.' }),
      version: z.string().meta({ description: 'The client’s own version.' }),
      title: z.string().nullish().meta({ description: 'For people.' }),
    }),
    capabilities: z
      .object({
        experimentalApi: z.boolean().default(false).meta({
          description: 'Opens `process/*`, `environment/*` and `permissionProfile` of `command/exec`.',
        }),
        optOutNotificationMethods: z
          .array(z.string())
          .nullish()
          .meta({ description: 'Notifications this connection does not want, by exact name.' }),
        requestAttestation: z.boolean().default(false).meta({ description: 'Accepted and not used.' }),
        mcpServerOpenaiFormElicitation: z
          .boolean()
          .default(false)
          .meta({ description: 'Accepted and not used.' }),
        extensions: z.unknown().optional().meta({ description: 'Accepted and not used.' }),
      })
      .nullish(),
  }),
  result: z.object({
    userAgent: z.string().meta({ description: 'Server, platform and client in one line.' }),
    codexHome: z.string().meta({ description: 'The absolute path of the configuration directory.' }),
    platformFamily: z.string().meta({ description: '`unix` or `windows`.' }),
    platformOs: z.string().meta({ description: '`linux`, `macos`, `windows`, …' }),
  }),
});

export const initialized = notification({
  doc: 'Says that the client has read the answer. The server does not wait for it.',
  params: z.unknown(),
});
