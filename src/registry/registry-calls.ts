import { z } from 'zod';
import { ExecError } from '../protocol/errors.js';
import { isLoopback } from '../transport/index.js';
import { PublicKey, SECURITY_PROFILE } from './public-key.js';

/** The same as Codex's. */
const CALL_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const Registered = z.object({
  environment_id: z.string(),
  url: z.url({ protocol: /^wss?$/ }),
  security_profile: z.literal(SECURITY_PROFILE),
  executor_registration_id: z.string().min(1),
});
export type Registered = z.output<typeof Registered>;

const Granted = Registered.extend({
  executor_public_key: PublicKey,
  harness_key_authorization: z.string().min(1).max(4096),
});
export type Granted = z.output<typeof Granted>;

const Verdict = z.object({
  valid: z.boolean(),
  /** It appears in logs and identifies clients, so it has to be a plain name. */
  client: z
    .string()
    .regex(/^[A-Za-z0-9_.@-]{1,64}$/)
    .optional()
    .catch(undefined),
});
export type Verdict = z.output<typeof Verdict>;

export interface RegistryPlace {
  /** `http://…` or `https://…`. */
  readonly url: string;
  readonly environmentId: string;
  readonly token: string;
}

/** A failed call to the registry. `status` is absent if there was no answer. */
export class CallFailure extends Error {
  readonly status: number | undefined;

  constructor(message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.status = options.status;
  }

  /** Whether repeating the call is pointless. */
  get isFinal(): boolean {
    return this.status !== undefined && this.status < 500 && this.status !== 429;
  }
}

/** The calls that machines and clients make. Errors never contain the token. */
export class RegistryCalls {
  readonly #place: RegistryPlace;

  constructor(place: RegistryPlace) {
    this.#place = place;
  }

  async register(key: PublicKey): Promise<Registered> {
    const body = { security_profile: SECURITY_PROFILE, executor_public_key: key };
    return this.#checked(await this.#call('register', Registered, { body }));
  }

  /** Asks for permission to use the machine. */
  async connect(key: PublicKey): Promise<Granted> {
    return this.#checked(await this.#call('connect', Granted, { body: { harness_public_key: key } }));
  }

  /** Whether a client may use this machine, and its name if the registry sends it. */
  async validate(
    asked: { registrationId: string; key: PublicKey; authorization: string },
    streamId: string,
  ): Promise<Verdict> {
    return await this.#call('validate', Verdict, {
      body: {
        executor_registration_id: asked.registrationId,
        harness_public_key: asked.key,
        harness_key_authorization: asked.authorization,
      },
      headers: { 'x-codex-noise-stream-id': streamId },
    });
  }

  #checked<Answer extends Registered>(answer: Answer): Answer {
    if (answer.environment_id === this.#place.environmentId) return answer;
    throw new CallFailure('The registry answered for another environment.', { status: 400 });
  }

  async #call<T>(
    verb: string,
    schema: z.ZodType<T>,
    { body, headers = {} }: { body: object; headers?: Record<string, string> },
  ): Promise<T> {
    const { url, environmentId, token } = this.#place;
    let response: Response;
    let text: string;
    try {
      response = await fetch(`${url.replace(/\/+$/, '')}/cloud/environment/${environmentId}/${verb}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(CALL_MS),
      });
      text = await boundedText(response);
    } catch (cause) {
      throw new CallFailure(`The registry cannot be reached (${verb}).`, { cause });
    }
    if (response.status !== 200) throw refusalOf(response.status, verb);
    const result = schema.safeParse(jsonOf(text));
    if (result.success) return result.data;
    throw new CallFailure(`The registry answered ${verb} in an unknown format.`, { status: 400 });
  }
}

/** Checks the URL that a token is about to be sent to. */
export function requireRegistryUrl(text: string, { insecure }: { insecure: boolean }): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.search !== '' || url.username !== '')
    throw new ExecError('invalidConfiguration', '--remote must be http://HOST… or https://HOST….');
  const isLocal = url.hostname === 'localhost' || isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  if (url.protocol === 'https:' || isLocal || insecure) return url.href;
  throw new ExecError(
    'invalidConfiguration',
    'The token would cross the network in plain text. Use https://, or accept it with --insecure.',
  );
}

function refusalOf(status: number, verb: string): CallFailure {
  const known: Record<number, string> = {
    401: 'the token is not accepted',
    403: 'the token is not accepted',
    503: 'no machine is connected under this id',
  };
  const why = known[status] ?? `status ${status}`;
  return new CallFailure(`The registry refused to ${verb}: ${why}.`, { status });
}

async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new RangeError('the answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
