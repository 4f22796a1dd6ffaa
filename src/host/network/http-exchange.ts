import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { knownAddresses } from './dial.js';
import type { Gate, NetworkRequest } from './gate.js';
import { clientOf, formatAuthority } from './host-name.js';
import { denialAnswer, failureAnswer, type OwnAnswer, plainAnswer } from './http-answers.js';
import { passedBack, passedOn } from './http-headers.js';
import { type HttpTarget, targetOf } from './http-target.js';

/** Whatever else a host says first, it is no answer. */
const FIRST_STATUS = 200;

/** What Node takes for the reason phrase of an answer. Hosts may send anything. */
const PRINTABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface ExchangeOptions {
  readonly gate: Gate;
  readonly signal: AbortSignal;
  /** False: a connection of its own. */
  readonly agent: Agent | false;
  /** Headers besides those of the client. */
  readonly more?: readonly string[];
  /** The host goes on with another protocol. Without it, it may not. */
  readonly onUpgrade?: (answered: IncomingMessage, there: Duplex, first: Buffer) => void;
}

/**
 * Passes a request on to the host it names, if the gate admits it, and the answer back. The caller sends the body. Null if
 * the client has been told why not.
 */
export async function exchange(
  incoming: IncomingMessage,
  response: ServerResponse,
  { gate, signal, agent, more = [], onUpgrade }: ExchangeOptions,
): Promise<ClientRequest | null> {
  const target = targetOf(incoming);
  if (typeof target === 'string') return answer(response, plainAnswer(400, target));
  const asked = httpRequest(target, incoming);
  const admission = await gate.admit(asked);
  if (!admission.allowed) return answer(response, denialAnswer(asked, admission));
  const { addresses } = admission;
  if (addresses === null) return answer(response, failureAnswer(asked, 'ENOTFOUND'));
  const fail = (code: string): void => {
    if (response.headersSent) response.destroy();
    else answer(response, failureAnswer(asked, code));
  };
  const outgoing = request({
    host: target.host,
    port: target.port,
    path: target.path,
    method: incoming.method,
    headers: [...passedOn(incoming, incoming.headers.host ?? authorityText(target)), ...more],
    agent,
    signal,
    lookup: knownAddresses(addresses),
  });
  outgoing.on('error', ({ code = 'EIO' }: NodeJS.ErrnoException) => fail(code));
  outgoing.on('response', (answered) => {
    if (passBack(answered, response)) return;
    outgoing.destroy();
    fail('EPROTO');
  });
  outgoing.on('upgrade', (answered, there, first) => {
    if (onUpgrade) return onUpgrade(answered, there, first);
    there.destroy();
    fail('EPROTO');
  });
  response.on('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  return outgoing;
}

/** False if it is no answer that anybody could understand. */
function passBack(answered: IncomingMessage, response: ServerResponse): boolean {
  const { statusCode = 0 } = answered;
  if (statusCode < FIRST_STATUS) return false;
  response.writeHead(statusCode, reasonOf(answered), passedBack(answered));
  answered.pipe(response);
  answered.on('close', () => {
    if (!answered.complete) response.destroy();
  });
  return true;
}

/** Undefined: the usual one for the status. */
export function reasonOf({ statusMessage = '' }: IncomingMessage): string | undefined {
  return PRINTABLE.test(statusMessage) ? statusMessage : undefined;
}

function httpRequest(
  { host, port }: HttpTarget,
  { method = 'GET', socket }: IncomingMessage,
): NetworkRequest {
  return { host, port, protocol: 'http', method, ...clientOf(socket) };
}

/** Requests of old clients lack the header. */
function authorityText(target: HttpTarget): string {
  return target.port === 80 ? formatAuthority(target).replace(/:80$/, '') : formatAuthority(target);
}

export function answer(response: ServerResponse, { status, headers, body }: OwnAnswer): null {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
  return null;
}
