import { z } from 'zod';
import { request } from '../method.js';
import { Count, Empty } from './common.js';

const EnvironmentId = z.string().meta({ description: 'An environment by its id; `local` is this machine.' });

export const environmentAdd = request({
  doc: 'Adds or replaces an environment and starts connecting to it.',
  params: z.object({
    environmentId: EnvironmentId,
    execServerUrl: z.string().meta({
      description:
        'The address of its exec server: `ws://…` or `wss://…`. Surrounding whitespace is ignored.',
    }),
    connectTimeoutMs: Count.nullish().meta({ description: 'How long connecting may take.' }),
    authBearerToken: z.string().nullish().meta({
      description:
        'Sent as `authorization: Bearer …` with every connection, over `wss://` or within this machine.',
    }),
    websocketRequestId: z.string().nullish().meta({
      description: 'Sent as `x-request-id` with every connection, under the same rule.',
    }),
    skills: z
      .object({ required: z.array(z.string()).nullish() })
      .nullish()
      .meta({ description: 'Ignored: skills belong to turns, and there are none.' }),
  }),
  result: Empty,
  experimental: true,
});

export const environmentInfo = request({
  doc: 'Describes an environment. Connects if needed.',
  params: z.object({ environmentId: EnvironmentId }),
  result: z.object({
    shell: z
      .object({ name: z.string(), path: z.string() })
      .meta({ description: 'The user’s shell on that machine.' }),
    cwd: z.string().nullable().meta({ description: 'The working directory, as a `file:` URI.' }),
  }),
  experimental: true,
});

export const environmentStatus = request({
  doc: 'Reports the state of an environment. Never connects.',
  params: z.object({ environmentId: EnvironmentId }),
  result: z.object({
    status: z.enum(['ready', 'pending', 'disconnected', 'unknown']).meta({
      description: '`pending`: no result yet. `unknown`: no such environment.',
    }),
    error: z.string().optional().meta({ description: 'What went wrong.' }),
  }),
  experimental: true,
});
