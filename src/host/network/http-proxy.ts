import { Agent, createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addAbortSignal, type Duplex } from 'node:stream';
import { dial } from './dial.js';
import type { Gate } from './gate.js';
import { clientOf, parseAuthority } from './host-name.js';
import { denialAnswer, endWith, failureAnswer, plainAnswer } from './http-answers.js';
import { answer, exchange, reasonOf } from './http-exchange.js';
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
    // Node would leave the thousandth out, and those behind it: one of them may say where the request ends.
    this.#server.maxHeadersCount = 0;
  }

  serve(socket: Socket): void {
    this.#server.emit('connection', socket);
  }

  close(): void {
    this.#agent.destroy();
    this.#server.close();
  }

  async #forward(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const [gate, signal, agent] = [this.#gate, this.#signal, this.#agent];
    const sent = await exchange(incoming, response, { gate, signal, agent });
    if (sent) incoming.pipe(sent);
  }

  /** Nothing behind the head is sent before the host has agreed: until then it would be another request. */
  async #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const response = responseOn(socket, incoming);
    if (hasBody(incoming)) return void answer(response, plainAnswer(400, 'An upgrade has no body.'));
    const sent = await exchange(incoming, response, {
      gate: this.#gate,
      signal: this.#signal,
      agent: false,
      more: ['Connection', 'Upgrade', 'Upgrade', incoming.headers.upgrade ?? ''],
      onUpgrade: (answered, there, first) => {
        addAbortSignal(this.#signal, there);
        response.detachSocket(socket as Socket);
        socket.write(headOf(answered));
        socket.write(first);
        there.write(head);
        join(socket, there);
      },
    });
    sent?.end();
  }

  async #tunnel(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    const target = parseAuthority(incoming.url ?? '');
    if (target === null) return endWith(socket, plainAnswer(400, 'CONNECT needs HOST:PORT.'));
    const client = clientOf(incoming.socket);
    const asked = { ...target, protocol: 'https_connect', method: 'CONNECT', ...client } as const;
    const dialled = await dial(this.#gate, asked, this.#signal);
    if (dialled.kind === 'refused') return endWith(socket, denialAnswer(asked, dialled.admission));
    if (dialled.kind === 'failed') return endWith(socket, failureAnswer(asked, dialled.code));
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    joinTunnel(socket, dialled.socket, { head, admitsName: (name) => this.#gate.admitsName(asked, name) });
  }
}

/** Node makes none for an upgrade. */
function responseOn(socket: Duplex, incoming: IncomingMessage): ServerResponse {
  const response = new ServerResponse(incoming);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  return response.on('finish', () => socket.end());
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** As it came: here it is the end of HTTP. */
function headOf(answered: IncomingMessage): Buffer {
  const { rawHeaders } = answered;
  const lines = rawHeaders.map((each, index) => (index % 2 === 0 ? `${each}: ` : `${each}\r\n`)).join('');
  return Buffer.from(`HTTP/1.1 101 ${reasonOf(answered) ?? ''}\r\n${lines}\r\n`, 'latin1');
}
