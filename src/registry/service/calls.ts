import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { PublicKey, SECURITY_PROFILE } from '../public-key.js';
import { Refusal } from './refusal.js';

/** Enough for a key and an authorization. */
const MAX_BODY_BYTES = 16 * 1024;
const MAX_AUTHORIZATION_CHARACTERS = 4096;
const MAX_ID_CHARACTERS = 256;

/** The bodies of calls. Members added by newer versions are ignored. */
export const RegisterBody = z.object({
  security_profile: z.literal(SECURITY_PROFILE),
  executor_public_key: PublicKey,
});
export const ConnectBody = z.object({ harness_public_key: PublicKey });
export const ValidateBody = z.object({
  executor_registration_id: z.string().max(MAX_ID_CHARACTERS),
  harness_public_key: PublicKey,
  harness_key_authorization: z.string().max(MAX_AUTHORIZATION_CHARACTERS),
});

/** A call, as parsed from its path. */
export interface Call {
  readonly environmentId: string;
  readonly verb: 'register' | 'connect' | 'validate';
}

export const CALL_PATH = '/cloud/environment/';

/** Reads `/cloud/environment/ID/VERB`. */
export function callOf({ url = '', method }: IncomingMessage): Call {
  const [, environmentId, verb] = /^\/cloud\/environment\/([^/?]+)\/(\w+)(?:\?.*)?$/.exec(url) ?? [];
  if (environmentId === undefined || !isVerb(verb))
    throw new Refusal(
      404,
      'not_found',
      'There is no such call. Registries know register, connect and validate.',
    );
  if (method !== 'POST') throw new Refusal(405, 'method_not_allowed', 'Use POST.');
  if (!/^[A-Za-z0-9_.:@-]{1,128}$/.test(environmentId))
    throw new Refusal(
      400,
      'invalid_environment_id',
      'An id has up to 128 letters, digits, or one of _ . : @ -.',
    );
  return { environmentId, verb };
}

function isVerb(text: string | undefined): text is Call['verb'] {
  return text === 'register' || text === 'connect' || text === 'validate';
}

/** Reads the body of a call. Errors never repeat its content. */
export async function bodyOf<T>(request: IncomingMessage, schema: z.ZodType<T>): Promise<T> {
  const result = schema.safeParse(await readJson(request));
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.join('.') || 'the body';
  throw new Refusal(400, 'invalid_request', `${where} is missing or not valid.`);
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let size = 0;
  // The connection stays open, so that a client that sends too much gets an answer.
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY_BYTES)
      throw new Refusal(413, 'too_large', `A body has at most ${MAX_BODY_BYTES} bytes.`);
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    throw new Refusal(400, 'invalid_request', 'The body is not JSON.');
  }
}
