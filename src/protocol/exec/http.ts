import { z } from 'zod';
import { notification, request } from '../method.js';
import { Chunk, Unsigned } from './common.js';

const HttpHeader = z.object({ name: z.string(), value: z.string() });

const RequestId = z
  .string()
  .meta({ description: 'Chosen by the client; identifies a streamed body while it is being sent.' });

export const httpRequest = request({
  doc: 'Makes an HTTP request from the server’s machine. Any status is a result; an incomplete answer is an error.',
  params: z.object({
    requestId: RequestId,
    method: z.string(),
    url: z.string().meta({ description: '`http:` or `https:`.' }),
    headers: z
      .array(
        HttpHeader.extend({
          valueEnvVar: z.string().nullish().meta({
            description: 'An environment variable of the server whose value is appended to `value`.',
          }),
        }),
      )
      .default([]),
    bodyBase64: Chunk.nullish(),
    timeoutMs: Unsigned.nullish().meta({ description: 'Covers everything up to the end of the body.' }),
    redirectPolicy: z.enum(['follow', 'stop']).default('follow'),
    streamResponse: z.boolean().default(false).meta({
      description: 'Answer as soon as the headers arrive; the body follows as `http/request/bodyDelta`.',
    }),
  }),
  result: z.object({
    status: z.number().int(),
    headers: z.array(HttpHeader).meta({
      description: 'Names in lower case; repeated ones in order. Content encodings are not decoded.',
    }),
    bodyBase64: Chunk,
  }),
  base64: { params: 'bodyBase64', result: 'bodyBase64' },
});

export const httpRequestBodyDelta = notification({
  doc: 'A chunk of a streamed body. Exactly one has `done`: the last, which is empty.',
  params: z.object({
    requestId: RequestId,
    seq: Unsigned.meta({ description: 'Counts from 1.' }),
    deltaBase64: Chunk,
    done: z.boolean(),
    error: z.string().nullable().meta({ description: 'On the last chunk: why the body is incomplete.' }),
  }),
  base64: { params: 'deltaBase64' },
});
