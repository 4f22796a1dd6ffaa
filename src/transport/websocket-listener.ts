import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createConnection, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { chmodSync, lstatSync, rmSync, unlinkSync } from 'node:fs';
import { createInflateRaw } from 'node:zlib';
import { type WebSocket, WebSocketServer } from 'ws';
import { ExecError } from '../protocol/errors.js';
import type { Channel } from '../rpc/index.js';
import { type Admission, NOT_ADMITTED } from './admission.js';
import { isAllowedHost } from './browser-guard.js';
import { answerCrowded, Door, type DoorLimits, GREETING_CHECKS, GREETING_MS } from './door.js';
import { isLoopback, type ListenAddress, urlHost } from './listen-address.js';
import { DEFAULT_LIVENESS, Liveness, type LivenessOptions } from './liveness.js';
import { UnfinishedMessages } from './unfinished-messages.js';
import { authenticate, type Authentication, bearerToken, type WebSocketAuth } from './websocket-auth.js';
import { WebSocketChannel } from './websocket-channel.js';
import { asksForSmallWindow, type CompressionUse, MESSAGE_DEFLATE } from './websocket-deflate.js';
import { inflateWithin } from './websocket-inflate.js';
import { answerPings } from './websocket-pongs.js';

/** Largest message accepted, fragmented or not. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const UPGRADE = { noServer: true, maxPayload: MAX_MESSAGE_BYTES, autoPong: false };
/** Close code (RFC 6455). */
const TRY_AGAIN_LATER = 1013;
/** How long a refused client may take to read the reason and close its end. */
const REFUSAL_GRACE_MS = 1_000;

export interface WebSocketListenerOptions {
  readonly address: Exclude<ListenAddress, { kind: 'stdio' }>;
  readonly auth?: WebSocketAuth | undefined;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Names clients may send in `Host`, besides the bound address and localhost. */
  readonly allowedHosts?: readonly string[];
  /** Decides who may connect over TCP. Default: everyone. */
  readonly admission?: Admission | undefined;
  /** The user at the other end of a unix socket; null if unknown. Default: users are not told apart. */
  readonly userAt?: ((socket: Duplex) => number | null) | undefined;
  readonly liveness?: LivenessOptions;
  /** Paths on which clients may connect. Default: only `/`; anything else is 404. */
  readonly paths?: 'root' | 'any';
  /** How to treat binary messages. Default: as a frame with bytes if it is one, else as text. */
  readonly binaryMessages?: 'text' | 'ignored';
  /** Called when a connection could not be accepted because descriptors or memory ran out. Listening continues. */
  readonly onAcceptError?: ((error: Error) => void) | undefined;
  /** Whose messages may be compressed. Default: clients on other machines. */
  readonly compression?: CompressionUse | undefined;
  /** Limits on the number of connections. */
  readonly limits?: DoorLimits;
  /** Bytes of messages that have not ended yet, on all connections together. Default: 512 MiB. */
  readonly maxUnfinishedBytes?: number | undefined;
  /** What a token of another kind gives leave to: undefined if it is none, null if it no longer does. */
  readonly shareOf?: ((token: string) => object | null | undefined) | undefined;
  /** A socket that listens on the address already. Unless it is ours, its file is left in place. */
  readonly socket?: { readonly fd: number; readonly isOurs: boolean } | undefined;
  readonly onConnection: (channel: Channel, connection: ListenerConnection) => void;
}

export interface ListenerConnection {
  /** Who the client is: its token, its subject, its user, or anyone who may connect. */
  readonly principal: string;
  /** What its token gives leave to, from `shareOf`, instead of everything. */
  readonly share?: object | undefined;
  /** Makes the client prove that it is alive. */
  readonly probe: () => void;
  /**
   * Call when the handshake is done. Without authentication, only this tells clients that use the server from those
   * that merely hold connections; until then, the connection may be ended in favour of others.
   */
  readonly introduced: () => void;
}

/** Accepts WebSocket connections on a TCP port or a unix socket. */
export class WebSocketListener {
  readonly #options: WebSocketListenerOptions;
  readonly #server: Server;
  readonly #door: Door;
  readonly #upgrader = new WebSocketServer({ ...UPGRADE, perMessageDeflate: false });
  readonly #deflatingUpgrader = new WebSocketServer({ ...UPGRADE, perMessageDeflate: MESSAGE_DEFLATE });
  readonly #unfinished: UnfinishedMessages;
  #connections = 0;

  private constructor(options: WebSocketListenerOptions) {
    this.#options = options;
    this.#server = options.tls
      ? createHttpsServer({ ...GREETING_CHECKS, ...options.tls, handshakeTimeout: GREETING_MS })
      : createHttpServer(GREETING_CHECKS);
    this.#door = new Door(this.#server, options.limits);
    this.#unfinished = new UnfinishedMessages(options.maxUnfinishedBytes);
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { status, headers } = this.#isAdmitted(request, { authenticated: false })
        ? this.#plainAnswer(request)
        : { status: 403 };
      response.writeHead(status, { ...headers, 'content-length': 0 }).end();
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#upgrade(request, socket, head).catch(() => socket.destroy());
    });
  }

  /** Binds and starts accepting. An address beyond loopback requires authentication. */
  static async open(options: WebSocketListenerOptions): Promise<WebSocketListener> {
    const { address, auth, tls } = options;
    if (address.kind === 'tcp' && address.secure && !tls) {
      throw new ExecError(
        'invalidConfiguration',
        `Cannot serve wss://${urlHost(address.host)}:${address.port} without a certificate. Add --tls-cert and --tls-key.`,
      );
    }
    if (address.kind === 'tcp' && !isLoopback(address.host) && !auth) {
      throw new ExecError(
        'invalidConfiguration',
        `Refusing to serve ${urlHost(address.host)} without authentication: anyone who reaches it could run ` +
          'programs here. Add authentication (--ws-auth), or listen on 127.0.0.1.',
      );
    }
    const listener = new WebSocketListener(options);
    await listener.#bind();
    return listener;
  }

  /** The bound address as a URL, with the port the system chose. */
  get url(): string {
    const { address, tls } = this.#options;
    if (address.kind === 'unix') return `unix://${address.path}`;
    // A bound TCP server has an AddressInfo.
    const { port } = this.#server.address() as AddressInfo;
    return `${tls ? 'wss' : 'ws'}://${urlHost(address.host)}:${port}`;
  }

  /** The descriptor of the socket; null if it cannot be told. */
  get descriptor(): number | null {
    const handle: unknown = Reflect.get(this.#server, '_handle');
    const fd: unknown = handle instanceof Object ? Reflect.get(handle, 'fd') : null;
    return typeof fd === 'number' && fd >= 0 ? fd : null;
  }

  /** Stops accepting. Open connections remain for their owners to close. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    const { address, socket } = this.#options;
    // Node removes only what it has bound itself.
    if (address.kind === 'unix' && socket?.isOurs) rmSync(address.path, { force: true });
  }

  async #bind(): Promise<void> {
    const { address, socket } = this.#options;
    if (address.kind === 'unix' && socket === undefined) await removeStaleSocket(address.path);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.once('listening', () => {
        // From here on errors concern single connections, and without a listener they would crash the process.
        this.#server.off('error', reject);
        this.#server.on('error', (error) => this.#options.onAcceptError?.(error));
        resolve();
      });
      if (socket !== undefined) {
        this.#server.listen({ fd: socket.fd });
        return;
      }
      if (address.kind === 'tcp') {
        this.#server.listen(address.port, address.host);
        return;
      }
      // Bound under a restrictive umask, so that at no moment others may connect.
      const umask = process.umask(0o177);
      try {
        this.#server.listen(address.path);
      } finally {
        process.umask(umask);
      }
    });
    if (address.kind === 'unix' && socket === undefined) chmodSync(address.path, 0o600);
  }

  /** Whether the request comes from a browser or uses an unknown host name. Checked before anything else. */
  #isForeign(request: IncomingMessage): boolean {
    if (request.headers.origin !== undefined) return true;
    return !isAllowedHost(request.headers.host, this.#options.address, this.#options.allowedHosts ?? []);
  }

  #isAdmitted({ socket }: IncomingMessage, proof: { authenticated: boolean }): boolean {
    const { address, admission } = this.#options;
    return address.kind !== 'tcp' || admission === undefined || admission(socket, proof);
  }

  #isServed(path: string): boolean {
    return path === '/' || this.#options.paths === 'any';
  }

  #plainAnswer(request: IncomingMessage): { status: number; headers?: Record<string, string> } {
    if (this.#isForeign(request)) return { status: 403 };
    const path = pathOf(request);
    if (path === '/readyz' || path === '/healthz') {
      const known = request.method === 'GET' || request.method === 'HEAD';
      return known ? { status: 200 } : { status: 405, headers: { allow: 'GET,HEAD' } };
    }
    return { status: this.#isServed(path) ? 400 : 404 };
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    if (this.#isForeign(request)) return refuse(socket, 403, '');
    if (!this.#isServed(pathOf(request))) return refuse(socket, 404, '');
    const { auth } = this.#options;
    const identity = this.#shared(request) ?? (await this.#identify(request, socket));
    if ('refusal' in identity) return refuse(socket, 401, identity.refusal);
    if (!this.#isAdmitted(request, { authenticated: auth !== undefined }))
      return refuse(socket, 403, NOT_ADMITTED);
    if (!this.#door.hasRoom) return answerCrowded(socket);
    // The bearer of a share could fill the place of others with connections that ask for nothing.
    if (auth && !('share' in identity)) this.#door.admit(socket);
    // Without this, small messages wait for the acknowledgement of the previous one (40 ms each).
    if ('setNoDelay' in socket) (socket as Socket).setNoDelay(true);
    const upgrader = this.#compresses(request) ? this.#deflatingUpgrader : this.#upgrader;
    upgrader.handleUpgrade(request, socket, head, (webSocket) => this.#accept(webSocket, socket, identity));
  }

  /** Who presents the token of a share may do what that allows, also where others need no token. */
  #shared({
    headers,
  }: IncomingMessage): { principal: string; share: object } | { refusal: string } | undefined {
    const token = bearerToken(headers.authorization ?? '');
    const share = token === undefined ? undefined : this.#options.shareOf?.(token);
    if (share === undefined) return undefined;
    return share === null ? { refusal: 'the share is over' } : { principal: 'share', share };
  }

  async #identify(request: IncomingMessage, socket: Duplex): Promise<Authentication> {
    const { auth } = this.#options;
    return auth
      ? await authenticate(auth, request.headers.authorization)
      : { principal: this.#principalAt(socket) };
  }

  #compresses({ socket, headers }: IncomingMessage): boolean {
    const { compression = 'remote' } = this.#options;
    if (asksForSmallWindow(headers['sec-websocket-extensions'])) return false;
    // Unix sockets have no remote address.
    const { remoteAddress } = socket;
    if (compression !== 'remote') return compression === 'always';
    return remoteAddress !== undefined && !isLoopback(remoteAddress);
  }

  /** Without a token, whoever may connect is the same client to us, except that a unix socket tells users apart. */
  #principalAt(socket: Duplex): string {
    const { address, userAt } = this.#options;
    const user = address.kind === 'unix' ? userAt?.(socket) : null;
    return user == null ? 'anyone' : `user:${user}`;
  }

  #accept(webSocket: WebSocket, stream: Duplex, identity: { principal: string; share?: object }): void {
    this.#connections += 1;
    answerPings(webSocket);
    // Both a TCP and a unix socket, encrypted or not.
    const liveness = new Liveness(webSocket, stream as Socket, this.#options.liveness ?? DEFAULT_LIVENESS);
    const { address, binaryMessages = 'text' } = this.#options;
    const label = `${address.kind}#${this.#connections}`;
    const channel = new WebSocketChannel(webSocket, label, { binaryMessages, stream });
    const turnAway = (reason: string): void => {
      webSocket.close(TRY_AGAIN_LATER, reason);
      setImmediate(() => webSocket.terminate());
    };
    this.#door.turnAwayBy(stream, () => turnAway('there are too many connections'));
    const grown = this.#unfinished.watch(webSocket, stream, () =>
      turnAway('there are too many unfinished messages'),
    );
    inflateWithin(webSocket, { createInflateRaw, stream, maxBytes: MAX_MESSAGE_BYTES, grown });
    this.#options.onConnection(channel, {
      probe: () => liveness.probe(),
      introduced: () => this.#door.admit(stream),
      ...identity,
    });
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

const STATUS_TEXT: Record<number, string> = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found' };

function refuse(socket: Duplex, status: number, body: string): void {
  const text = `HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? ''}\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
  socket.end(text);
  // A client that keeps its end open would otherwise hold one of our connections and keep the server from closing.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), REFUSAL_GRACE_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** Removes a socket file left behind by a server that died. A live one is not ours to take. */
async function removeStaleSocket(path: string): Promise<void> {
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (!existing) return;
  // Connecting to a regular file is refused as well, but a mistyped path must not delete that file.
  if (!existing.isSocket()) {
    throw new ExecError('invalidConfiguration', `Cannot listen on ${path}: it exists and is not a socket.`);
  }
  const alive = await new Promise<boolean>((resolve) => {
    const probe = createConnection(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
  if (alive) throw new ExecError('invalidConfiguration', `Cannot listen on ${path}: it is in use.`);
  unlinkSync(path);
}
