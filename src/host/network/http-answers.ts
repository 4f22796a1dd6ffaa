import type { Duplex } from 'node:stream';
import { STATUS_CODES } from 'node:http';
import { type Admission, explainDenial, type NetworkRequest } from './gate.js';

/** An answer of ours, in place of the host's. */
export interface OwnAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const CONTENT_TYPE = 'content-type';

/** Which list stopped a request, for programs that look. */
const STOPPED_BY: Readonly<Record<string, string>> = {
  denied: 'blocked-by-denylist',
  not_allowed: 'blocked-by-allowlist',
  not_allowed_local: 'blocked-by-allowlist',
};

/** Tells a program, and whoever reads what it prints, that the policy is the reason. */
export function denialAnswer(
  request: NetworkRequest,
  { reason, decision }: Extract<Admission, { allowed: false }>,
): OwnAnswer {
  const { host, port, protocol } = request;
  const message = explainDenial(request, reason);
  const body = JSON.stringify({ status: 'blocked', host, port, protocol, reason, decision, message });
  return {
    status: 403,
    headers: {
      [CONTENT_TYPE]: 'application/json',
      'x-proxy-error': STOPPED_BY[reason] ?? 'blocked-by-policy',
    },
    body: `${body}\n`,
  };
}

export function failureAnswer({ host, port }: NetworkRequest, code: string): OwnAnswer {
  const status = code === 'ETIMEDOUT' ? 504 : 502;
  return plainAnswer(status, `The host ${host} cannot be reached on port ${port} (${code}).`);
}

export function plainAnswer(status: number, sentence: string): OwnAnswer {
  return { status, headers: { [CONTENT_TYPE]: 'text/plain; charset=utf-8' }, body: `${sentence}\n` };
}

/** Writes an answer where there is no response object, and closes. */
export function endWith(socket: Duplex, { status, headers, body }: OwnAnswer): void {
  const lines = Object.entries({
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
}
