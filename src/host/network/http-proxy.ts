import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { dial, knownAddresses } from './dial.js';
import type { Gate, NetworkRequest } from './gate.js';
import { clientOf, parseAuthority } from './host-name.js';
import { denialAnswer, endWith, failureAnswer, type OwnAnswer, plainAnswer } from './http-answers.js';
import { passedOn } from './http-headers.js';
import { type HttpTarget, targetOf } from './http-target.js';
import { join } from './join.js';
import { joinTunnel } from './join-tunnel.js';

/** How long a client may take for the head of a request. */
const HEAD_LIMIT_MS = 30_000;

/** A proxy for HTTP: plain requests, upgrades such as WebSockets, and CONNECT. It listens nowhere by itself. */
export class HttpProxy {
  readonly #gate: Gate;
  readonly #signal: AbortSignal;
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 8 });
  readonly #server: Server;

  constructor(gate: Gate, signal: AbortSignal) {
    this.#gate = gate;
    this.#signal = signal;
    this.#server = createServer({
      headersTimeout: HEAD_LIMIT_MS,
      requestTimeout: 0,
      keepAliveTimeout: 60_000,
    })
      .on('request', (incoming, response) => void this.#forward(incoming, response))
      .on('upgrade', (incoming: IncomingMessage, socket, head) => void this.#upgrade(incoming, socket, head))
      .on('connect', (incoming: IncomingMessage, socket, head) => void this.#tunnel(incoming, socket, head))
      .on('clientError', (_error, socket) => {
        if (socket.writable) endWith(socket, plainAnswer(400, 'This is not a request to an HTTP proxy.'));
        else socket.destroy();
      });
  }

  serve(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  close(): void {
    this.#agent.destroy();
    this.#server.close();
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = targetOf(incoming);
    if (typeof target === 'string') return answer(response, plainAnswer(400, target));
    const asked = httpRequest(target, incoming);
    const admission = await this.#gate.admit(asked);
    if (!admission.allowed) return answer(response, denialAnswer(asked, admission));
    const { addresses } = admission;
    if (addresses === null) return answer(response, failureAnswer(asked, 'ENOTFOUND'));
    const outgoing = request({
      host: target.host,
      port: target.port,
      path: target.path,
      method: incoming.method,
      headers: withHost(passedOn(incoming.rawHeaders), incoming.headers.host ?? authorityText(target)),
      agent: this.#agent,
      signal: this.#signal,
      lookup: knownAddresses(addresses),
    });
    outgoing.on('response', (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.statusMessage, passedOn(answered.rawHeaders));
      answered.pipe(response);
      answered.on('close', () => {
        if (!answered.complete) response.destroy();
      });
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent) response.destroy();
      else answer(response, failureAnswer(asked, error.code ?? 'EIO'));
    });
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    incoming.pipe(outgoing);
  }

  async #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const target = targetOf(incoming);
    if (typeof target === 'string') return endWith(socket, plainAnswer(400, target));
    const there = await this.#reach(httpRequest(target, incoming), socket);
    if (there === null) return;
    const headers = withHost(
      passedOn(incoming.rawHeaders, { keep: ['connection', 'upgrade'] }),
      incoming.headers.host ?? authorityText(target),
    );
    const lines = headers.map((each, index) => (index % 2 === 0 ? `${each}: ` : `${each}\r\n`)).join('');
    there.write(Buffer.from(`${incoming.method} ${target.path} HTTP/1.1\r\n${lines}\r\n`, 'latin1'));
    there.write(head);
    join(socket, there);
  }

  async #tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const target = parseAuthority(incoming.url ?? '');
    if (target === null) return endWith(socket, plainAnswer(400, 'CONNECT needs HOST:PORT.'));
    const client = clientOf(incoming.socket);
    const asked = { ...target, protocol: 'https_connect', method: 'CONNECT', ...client } as const;
    const there = await this.#reach(asked, socket);
    if (there === null) return;
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    joinTunnel(socket, there, { head, admitsName: (name) => this.#gate.admitsName(asked, name) });
  }

  /** Null if the client has been told why not. */
  async #reach(asked: NetworkRequest, socket: Duplex): Promise<Socket | null> {
    socket.on('error', () => socket.destroy());
    const dialled = await dial(this.#gate, asked, this.#signal);
    if (dialled.kind === 'connected') return dialled.socket;
    const { kind } = dialled;
    endWith(
      socket,
      kind === 'refused' ? denialAnswer(asked, dialled.admission) : failureAnswer(asked, dialled.code),
    );
    return null;
  }
}

function httpRequest(
  { host, port }: HttpTarget,
  { method = 'GET', socket }: IncomingMessage,
): NetworkRequest {
  return { host, port, protocol: 'http', method, ...clientOf(socket) };
}

function authorityText({ host, port }: HttpTarget): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === 80 ? name : `${name}:${port}`;
}

/** The target names the host; requests of old clients lack the header. */
function withHost(headers: string[], host: string): string[] {
  const hasHost = headers.some((each, index) => index % 2 === 0 && each.toLowerCase() === 'host');
  return hasHost ? headers : ['Host', host, ...headers];
}

function answer(response: ServerResponse, { status, headers, body }: OwnAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
