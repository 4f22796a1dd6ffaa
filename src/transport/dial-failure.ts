import type { IncomingMessage } from 'node:http';
import { ExecError } from '../protocol/errors.js';

/** A refusal is one short sentence; what is longer does not come from a server of ours. */
const MAX_REFUSAL_BYTES = 256;

/** Why a connection was not made, and what to do about it. `status` and `reason` are for programs. */
export interface DialFailure {
  readonly why: string;
  readonly data: { readonly status?: number; readonly reason?: TokenProblem };
}

export type TokenProblem = 'tokenMissing' | 'tokenExpired' | 'tokenRejected';

const TOKEN_HELP =
  'with --token-file FILE, token_file in environments.toml, or authBearerToken in the library';

/** Explains an HTTP answer in place of a WebSocket. */
export async function explainAnswer(
  response: IncomingMessage,
  { hasToken }: { hasToken: boolean },
): Promise<DialFailure> {
  const status = response.statusCode ?? 0;
  if (status !== 401) {
    response.resume();
    return { why: `the server answered with HTTP status ${status}`, data: { status } };
  }
  const refusal = await firstBytes(response);
  if (!hasToken)
    return { why: `it requires a token. Give it ${TOKEN_HELP}`, data: { status, reason: 'tokenMissing' } };
  if (/expired/.test(refusal))
    return {
      why: 'the token has expired (HTTP status 401). Get a new one',
      data: { status, reason: 'tokenExpired' },
    };
  return {
    why: `the token was not accepted (HTTP status 401${detailOf(refusal)}). Check the one given ${TOKEN_HELP}`,
    data: { status, reason: 'tokenRejected' },
  };
}

/** Explains a failure to connect. */
export function explainError(error: NodeJS.ErrnoException, { secure }: { secure: boolean }): string {
  if (secure && /wrong version number|packet length too long|EPROTO/.test(`${error.code} ${error.message}`))
    return 'the server does not speak TLS on this port. Use ws:// instead of wss://';
  if (!secure && (error.code === 'ECONNRESET' || error.message === 'socket hang up'))
    return `the server hung up (${error.message}). If it uses TLS, connect with wss:// instead of ws://`;
  if (UNTRUSTED.test(error.code ?? ''))
    return `its certificate is not trusted (${error.message}). If it comes from your own CA, set NODE_EXTRA_CA_CERTS to the CA's file`;
  const known = UNREACHABLE[error.code ?? ''];
  return known === undefined ? error.message : `${known} (${error.message})`;
}

/** What people can do about it is up to them: start the server, mend the address. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address',
  ENOTFOUND: 'there is no host with this name',
  EHOSTUNREACH: 'there is no route to this host',
  ENETUNREACH: 'there is no route to this network',
};

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

/** The value of an `Authorization` header. A token that was read from a file often ends in a line break. */
export function bearerHeader(token: string): string {
  const trimmed = token.trim();
  // eslint-disable-next-line no-control-regex
  if (trimmed !== '' && !/[\u0000-\u001f\u007f]/.test(trimmed)) return `Bearer ${trimmed}`;
  throw new ExecError(
    'invalidConfiguration',
    trimmed === ''
      ? 'The bearer token is empty.'
      : 'The bearer token contains a line break or another control character.',
  );
}

/** What our servers say about signed tokens: the issuer, the audience, the time. */
function detailOf(refusal: string): string {
  const [, detail] = /^websocket (jwt [a-z ]+)$/.exec(refusal) ?? [];
  return detail === undefined ? '' : `: ${detail}`;
}

async function firstBytes(response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('latin1')) {
      text += String(chunk);
      if (text.length > MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // Whatever arrived is enough.
  }
  return text.slice(0, MAX_REFUSAL_BYTES);
}
