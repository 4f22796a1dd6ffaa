import { z } from 'zod';
import { notification, request } from '../method.js';
import { Chunk, Unsigned } from './common.js';

const HttpHeader = z.object({ name: z.string(), value: z.string() });

const RequestId = z
  .string()
  .meta({ description: 'Chosen by the client; names a streamed body among those under way.' });

export const httpRequest = request({
  doc: 'Makes an HTTP request from the server’s machine. Any status is a result; no complete answer is an error.',
  params: z.object({
    requestId: RequestId,
    method: z.string(),
    url: z.string().meta({ description: '`http:` or `https:`.' }),
    headers: z
      .array(
        HttpHeader.extend({
          valueEnvVar: z
            .string()
            .nullish()
            .meta({ description: 'A variable of the server whose value is appended to `value`.' }),
        }),
      )
      .default([]),
    bodyBase64: Chunk.nullish(),
    timeoutMs: Unsigned.nullish().meta({ description: 'For everything up to the end of the body.' }),
    redirectPolicy: z.enum(['follow', 'stop']).default('follow'),
    streamResponse: z
      .boolean()
      .default(false)
      .meta({ description: 'Answer with the headers; the body follows as `http/request/bodyDelta`.' }),
  }),
  result: z.object({
    status: z.number().int(),
    headers: z
      .array(HttpHeader)
      .meta({ description: 'Names in lower case; repeated ones in order. Encodings are not undone.' }),
    bodyBase64: Chunk,
  }),
  base64: { params: 'bodyBase64', result: 'bodyBase64' },
});

export const httpRequestBodyDelta = notification({
  doc: 'A piece of a streamed body. Exactly one item has `done`; it is empty and the last.',
  params: z.object({
    requestId: RequestId,
    seq: Unsigned.meta({ description: 'Counts from 1.' }),
    deltaBase64: Chunk,
    done: z.boolean(),
    error: z.string().nullable().meta({ description: 'On the last item: why the body is not complete.' }),
  }),
  base64: { params: 'deltaBase64' },
});
