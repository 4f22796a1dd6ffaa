import type { IncomingMessage } from 'node:http';
import { ExecError } from '../protocol/errors.js';
import { NOT_ADMITTED } from './admission.js';

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
  const refusal = await firstBytes(response);
  if (status !== 401) return { why: `${whyNot(status, refusal)} (HTTP status ${status})`, data: { status } };
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

/** What an answer means that is neither a WebSocket nor about tokens. */
function whyNot(status: number, refusal: string): string {
  if (status === 403 && refusal.includes(NOT_ADMITTED))
    return 'it does not serve programs in its own sandboxes';
  return ANSWERS[status] ?? (status >= 500 ? 'it has failed. Try again later' : NOT_OURS);
}

const NOT_OURS = 'a web server answers there, but none of Execwire. Check the host, the port and the path';
const BEHIND_PROXY = 'a proxy in between cannot reach it. Check that the server is running';

const ANSWERS: Readonly<Record<number, string>> = {
  403: 'it refuses this client. If it is a server of Execwire, start it with --allow-host and the host name you use',
  407: 'a proxy in between requires a sign-in',
  429: 'it has too many clients. Try again later',
  502: BEHIND_PROXY,
  503: 'it has no room for another client. Try again later',
  504: BEHIND_PROXY,
};

/** Explains a failure to connect. */
export function explainError(error: NodeJS.ErrnoException, { secure }: { secure: boolean }): string {
  const { code = '', message } = error;
  if (secure && /wrong version number|packet length too long|EPROTO/.test(`${code} ${message}`))
    return 'the server does not speak TLS on this port. Use ws:// instead of wss://';
  if (code === 'ECONNRESET' || message === 'socket hang up')
    return `the server hung up (${message})${secure ? '' : '. If it uses TLS, connect with wss:// instead of ws://'}`;
  if (code.startsWith('HPE_'))
    return `what listens there is no server of Execwire. Check the port (${message})`;
  const untrusted = UNTRUSTED.find(([pattern]) => pattern.test(code));
  if (untrusted) return `its certificate ${untrusted[1]} (${message})${untrusted[2]}`;
  const known = UNREACHABLE[code];
  return known === undefined ? message : `${known} (${message})`;
}

/** What people can do about it is up to them: start the server, mend the address. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not connect to it',
  EAI_AGAIN: 'its name cannot be looked up at the moment. Check the network',
  ECONNREFUSED: 'nothing listens at this address',
  EHOSTUNREACH: 'there is no route to this host',
  ENETUNREACH: 'there is no route to this network',
  ENOENT: 'there is no socket at this path. Check that the server is running',
  ENOTDIR: 'there is no socket at this path. Check that the server is running',
  ENOTFOUND: 'there is no host with this name',
  EPERM: 'a firewall of this machine forbids it',
  ETIMEDOUT: 'nothing answers at this address',
};

/** What is wrong with a certificate, and what helps. */
const UNTRUSTED: readonly (readonly [RegExp, string, string])[] = [
  [/CERT_HAS_EXPIRED/, 'has expired', '. Renew it on the server'],
  [/CERT_NOT_YET_VALID/, 'is not valid yet', '. Compare the clocks of both machines'],
  [/ALTNAME_INVALID/, 'is for another name', '. Connect with the name that it is for'],
  [
    /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/,
    'is not trusted',
    ". If it comes from your own CA, set NODE_EXTRA_CA_CERTS to the CA's file",
  ],
];

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
