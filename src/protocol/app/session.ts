import { z } from 'zod';
import { notification, request } from '../method.js';

export const initialize = request({
  doc: 'Starts a connection. Required before any other request; may be retried if refused.',
  params: z.object({
    clientInfo: z.object({
      name: z.string().meta({ description: 'Must be a valid HTTP header value.' }),
      version: z.string().meta({ description: 'The client’s own version.' }),
      title: z.string().nullish().meta({ description: 'For people.' }),
    }),
    capabilities: z
      .object({
        experimentalApi: z.boolean().default(false).meta({
          description:
            'Enables `process/*`, `environment/*`, `changes/*`, and `permissionProfile` and held changes in `command/exec`.',
        }),
        optOutNotificationMethods: z
          .array(z.string())
          .nullish()
          .meta({ description: 'Notifications this connection does not want, by exact name.' }),
        requestAttestation: z.boolean().default(false).meta({ description: 'Ignored.' }),
        mcpServerOpenaiFormElicitation: z.boolean().default(false).meta({ description: 'Ignored.' }),
        extensions: z.unknown().optional().meta({ description: 'Ignored.' }),
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
  doc: 'Confirms that the client has received the answer. The server does not wait for it.',
  params: z.unknown(),
});
