import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { ExecError } from '../protocol/errors.js';
import type { Admission } from '../transport/admission.js';
import { Door, GREETING_CHECKS, GREETING_MS } from '../transport/door.js';
import { isLoopback, type ListenAddress, urlHost } from '../transport/listen-address.js';
import { listenAt } from '../transport/listen-failure.js';
import { sendError, sendFile } from './answers.js';
import { ConsoleApi } from './console-api.js';
import { type ConsoleSession, ConsoleSessions } from './console-sessions.js';
import { type CookiePlace, readCookie, setCookie } from './cookie.js';
import { ConsoleLines } from './console-lines.js';
import type { ConsoleFleet, ConsoleMachine } from './machine.js';
import { MachineDirectory } from './machine-directory.js';
import { OneTimeKey } from './one-time-key.js';
import { PageFiles } from './page-files.js';
import { pageHeaders } from './page-headers.js';
import { PortGates } from './ports/port-gates.js';
import { RequestGuard } from './request-guard.js';
import { ViewLinks } from './view-links.js';

export interface ConsoleOptions {
  readonly address: Extract<ListenAddress, { kind: 'tcp' }>;
  /** The folder with the built page. */
  readonly pageDirectory: string;
  readonly machines: readonly ConsoleMachine[];
  readonly fleet?: ConsoleFleet | undefined;
  readonly version: string;
  /** Names by which browsers may address this machine, besides its address and localhost. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Required, with `tokenSha256`, on every address except loopback. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** SHA-256 of a token that people may sign in with. */
  readonly tokenSha256?: Uint8Array | undefined;
  /** Decides who is served, by where a connection comes from. Default: everyone. */
  readonly admission?: Admission | undefined;
  /** How much of messages that have not ended is kept, of all pages together. */
  readonly maxUnfinishedBytes?: number | undefined;
  /** The link was used: the next one. */
  readonly onNewLink?: ((link: string) => void) | undefined;
}

/** The console on a listener of its own: a page, its sign-in, and connections from the page to machines. */
export class ConsoleServer implements AsyncDisposable {
  readonly #options: ConsoleOptions;
  readonly #server: Server;
  readonly #links = new ViewLinks();
  readonly #sessions = new ConsoleSessions(this.#links);
  readonly #key = new OneTimeKey();
  readonly #files: PageFiles;
  readonly #guard: RequestGuard;
  readonly #api: ConsoleApi;
  readonly #lines: ConsoleLines;
  readonly #headers: Record<string, string>;

  private constructor(options: ConsoleOptions) {
    const { address, tls, allowedHosts = [], version, tokenSha256 = null, admission } = options;
    const machines = new MachineDirectory(options.machines, options.fleet ?? null);
    const isEncrypted = tls !== undefined;
    this.#options = options;
    this.#files = new PageFiles(options.pageDirectory);
    this.#guard = new RequestGuard({ address, allowedHosts, isEncrypted });
    this.#headers = pageHeaders({ isEncrypted });
    this.#server = tls
      ? createHttpsServer({ ...GREETING_CHECKS, ...tls, handshakeTimeout: GREETING_MS })
      : createHttpServer(GREETING_CHECKS);
    const door = new Door(this.#server);
    const { maxUnfinishedBytes } = options;
    this.#lines = new ConsoleLines({ machines, door, maxUnfinishedBytes });
    this.#api = new ConsoleApi({
      sessions: this.#sessions,
      links: this.#links,
      key: this.#key,
      tokenSha256,
      machines,
      gates: new PortGates({ admission, tls: tls ? { ...tls, address: address.host } : null }),
      version,
      keyUsed: () => options.onNewLink?.(this.newLink()),
      setCookie: (response, value, maxAgeMs) =>
        void response.setHeader('set-cookie', setCookie(this.#cookiePlace, value ?? '', maxAgeMs)),
    });
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#upgrade(request, socket, head);
    });
  }

  /** Binds and starts serving. */
  static async open(options: ConsoleOptions): Promise<ConsoleServer> {
    requireProtection(options);
    const console = new ConsoleServer(options);
    await console.#bind();
    return console;
  }

  /** Where the page is, without leave to use it. */
  get url(): string {
    const { address, tls } = this.#options;
    return `${tls ? 'https' : 'http'}://${urlHost(address.host)}:${this.#cookiePlace.port}/`;
  }

  /** A link that signs one browser in, once. Its key is in the fragment, which browsers do not send. */
  newLink(): string {
    return `${this.url}#key=${this.#key.renew()}`;
  }

  /** Signs everyone out and stops serving. Idempotent. */
  async close(): Promise<void> {
    this.#key.forget();
    this.#sessions.close();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #bind(): Promise<void> {
    await listenAt(this.#server, this.#options.address);
    // From here on errors concern single connections.
    this.#server.on('error', () => undefined);
  }

  get #cookiePlace(): CookiePlace {
    // A bound TCP server has an AddressInfo.
    const { port } = this.#server.address() as AddressInfo;
    return { port, isEncrypted: this.#options.tls !== undefined };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(this.#headers)) response.setHeader(name, value);
    if (!this.#isWelcome(request) || this.#guard.isCrossSite(request))
      return sendError(response, 403, 'forbidden', 'This request does not come from the console.');
    const path = pathOf(request);
    if (path.startsWith('/api/')) return await this.#answerApi(request, response, path);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return sendError(response, 405, 'methodNotAllowed', 'The page can only be read.');
    const file = this.#files.find(path);
    if (file) sendFile(request, response, file);
    else sendError(response, 404, 'notFound', 'There is nothing here.');
  }

  async #answerApi(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    // Reading takes the proof of the page; whatever changes something must also come from it.
    if (request.method !== 'GET' && !this.#guard.isSameOrigin(request))
      return sendError(response, 403, 'forbidden', 'This request does not come from the console.');
    const proof = request.headers['x-execwire-proof'];
    const session = this.#sessionOf(request, typeof proof === 'string' ? proof : undefined);
    await this.#api.answer(request, response, { path, session });
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    if (!this.#isWelcome(request) || !this.#guard.isSameOrigin(request))
      return refuse(socket, '403 Forbidden');
    const session = this.#sessionOf(request, proofIn(request));
    if (!session) return refuse(socket, '401 Unauthorized');
    if (!this.#lines.connect(request, socket, { head, session, path: pathOf(request) }))
      refuse(socket, '404 Not Found');
  }

  #isWelcome(request: IncomingMessage): boolean {
    const { admission } = this.#options;
    const isAdmitted = admission === undefined || admission(request.socket, { authenticated: false });
    return isAdmitted && this.#guard.knowsHost(request);
  }

  #sessionOf({ headers }: IncomingMessage, proof: string | undefined): ConsoleSession | undefined {
    const cookie = readCookie(this.#cookiePlace, headers.cookie);
    return cookie === undefined || proof === undefined ? undefined : this.#sessions.find({ cookie, proof });
  }
}

/** On the network, a link could be read by others, and so could everything else. */
function requireProtection({ address, tls, tokenSha256 }: ConsoleOptions): void {
  if (address.secure && !tls)
    throw new ExecError(
      'invalidConfiguration',
      'Cannot serve https:// without a certificate. Add --tls-cert and --tls-key.',
    );
  if (isLoopback(address.host) || (tls && tokenSha256)) return;
  throw new ExecError(
    'invalidConfiguration',
    `Refusing to serve the console on ${urlHost(address.host)} without TLS and a token: anyone who reaches it could run ` +
      'programs here. Add --tls-cert, --tls-key and --console-token-file, or use 127.0.0.1.',
  );
}

/** A page cannot add headers to a WebSocket, but it can offer a subprotocol. */
function proofIn({ headers }: IncomingMessage): string | undefined {
  const offered = headers['sec-websocket-protocol']?.split(',').map((each) => each.trim());
  return offered?.find((each) => each.startsWith('proof.'))?.slice('proof.'.length);
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`, () => socket.destroy());
}
