import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { type WebSocket, WebSocketServer } from 'ws';
import type { PassedChannel } from '../rpc/index.js';
import { NOT_ADMITTED } from './admission.js';
import { isAllowedHost } from './browser-guard.js';
import { type ClientIdentity, identify } from './client-identity.js';
import { answerCrowded, Door, GREETING_CHECKS, GREETING_MS } from './door.js';
import { descriptorOf } from './descriptor-of.js';
import { Greetings } from './greetings.js';
import { isLoopback, urlHost } from './listen-address.js';
import type { WebSocketListenerOptions } from './listener-options.js';
import { bindServer, unbindServer } from './listener-socket.js';
import { DEFAULT_LIVENESS, Liveness } from './liveness.js';
import { passSocket, unsentOf } from './pass-socket.js';
import { refuse, STATUS_TEXT } from './refuse-upgrade.js';
import type { SideService } from './side-service.js';
import type { WebSocketAuth } from './websocket-auth.js';
import { UnfinishedMessages } from './unfinished-messages.js';
import { refuseUnsafe } from './unsafe-listener.js';
import { upgradedSocket } from './upgraded-socket.js';
import { WebSocketChannel } from './websocket-channel.js';
import { asksForSmallWindow, MESSAGE_DEFLATE } from './websocket-deflate.js';
import { inflateWithin } from './websocket-inflate.js';
import { answerPings } from './websocket-pongs.js';

/** Largest message accepted, fragmented or not. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const UPGRADE = { noServer: true, maxPayload: MAX_MESSAGE_BYTES, autoPong: false };
/** Close code (RFC 6455). */
const TRY_AGAIN_LATER = 1013;

/** A connection that another listener had. */
interface PassedConnection {
  readonly unread: Uint8Array;
  readonly unsent: Uint8Array;
  readonly principal: string;
}

/** Accepts WebSocket connections on a TCP port or a unix socket. */
export class WebSocketListener {
  readonly #options: WebSocketListenerOptions;
  readonly #server: Server;
  readonly #door: Door;
  readonly #greetings: Greetings;
  readonly #upgrader = new WebSocketServer({ ...UPGRADE, perMessageDeflate: false });
  readonly #deflatingUpgrader = new WebSocketServer({ ...UPGRADE, perMessageDeflate: MESSAGE_DEFLATE });
  readonly #unfinished: UnfinishedMessages;
  #auth: WebSocketAuth | undefined;
  #connections = 0;

  private constructor(options: WebSocketListenerOptions) {
    this.#options = options;
    this.#auth = options.auth;
    this.#server = options.tls
      ? createHttpsServer({ ...GREETING_CHECKS, ...options.tls, handshakeTimeout: GREETING_MS })
      : createHttpServer(GREETING_CHECKS);
    this.#door = new Door(this.#server, options.limits);
    this.#greetings = new Greetings(this.#server, { encrypted: options.tls !== undefined });
    this.#unfinished = new UnfinishedMessages(options.maxUnfinishedBytes);
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const isAdmitted = this.#isAdmitted(request, { authenticated: false });
      const side = isAdmitted && !this.#isForeign(request) ? this.#sideFor(request) : undefined;
      this.#greetings.over(request.socket);
      if (side) return side.answer(request, response);
      const { status, headers } = isAdmitted ? this.#plainAnswer(request) : { status: 403 };
      response.writeHead(status, { ...headers, 'content-length': 0 }).end();
    });
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#upgrade(request, socket, head)
        .catch(() => socket.destroy())
        .finally(() => this.#greetings.over(socket));
    });
  }

  /** Binds and starts accepting. An address beyond loopback requires authentication. */
  static async open(options: WebSocketListenerOptions): Promise<WebSocketListener> {
    refuseUnsafe(options);
    const listener = new WebSocketListener(options);
    await bindServer(listener.#server, options);
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

  /** The descriptor of the socket; null if unknown. */
  get descriptor(): number | null {
    return descriptorOf(this.#server);
  }

  /**
   * Takes nothing from connections that arrive from here on. Resolves when those before it are connected or refused.
   *
   * @internal
   */
  rest(): Promise<void> {
    return this.#greetings.rest();
  }

  /**
   * Descriptors of connections that nothing was read from. Call when it rests.
   *
   * @internal
   */
  untouched(): number[] {
    return this.#greetings.untouched();
  }

  /**
   * Serves a connection that was accepted elsewhere. Owns its descriptor.
   *
   * @internal
   */
  welcome(fd: number): void {
    this.#server.emit('connection', new Socket({ fd, readable: true, writable: true }));
  }

  /**
   * Continues with a connection of another listener. `unread`: what was read from it and not acted on. `unsent`: what it
   * was sent, and has not left. Owns its descriptor.
   *
   * @internal
   */
  adopt(fd: number, { unread, unsent, principal }: PassedConnection): void {
    const stream = new Socket({ fd, readable: true, writable: true });
    stream.on('error', () => stream.destroy());
    this.#door.readmit(stream);
    const socket = upgradedSocket(stream, { unread, options: UPGRADE });
    this.#accept(socket, stream, { principal, url: '/', leftover: unsent });
  }

  /** Uses other credentials from here on. Connected clients stay. */
  renew({ auth, tls }: Pick<WebSocketListenerOptions, 'auth' | 'tls'>): void {
    if (this.#auth && auth) this.#auth = auth;
    if (tls && this.#server instanceof HttpsServer) this.#server.setSecureContext(tls);
  }

  /** Accepts no more connections. Existing ones stay. */
  refuseNewcomers(): void {
    this.#server.close();
  }

  /** Stops accepting. Open connections remain for their owners to close. */
  async close(): Promise<void> {
    await unbindServer(this.#server, this.#options);
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

  #sideFor(request: IncomingMessage): SideService | undefined {
    const { side } = this.#options;
    return side?.serves(pathOf(request)) ? side : undefined;
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

  #refuse(socket: Duplex, status: number, reason: string): void {
    const told = reason || (STATUS_TEXT[status] ?? '');
    this.#options.onRefused?.({ peer: peerOf(socket), status, reason: told });
    refuse(socket, status, reason);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    if (this.#isForeign(request)) return this.#refuse(socket, 403, '');
    const side = this.#sideFor(request);
    if (side) return side.upgrade(request, socket, head, () => this.#makeRoom(socket));
    if (!this.#isServed(pathOf(request))) return this.#refuse(socket, 404, '');
    const auth = this.#auth;
    const identity = await identify(request, socket, { ...this.#options, auth });
    if ('refusal' in identity) return this.#refuse(socket, 401, identity.refusal);
    if (!this.#isAdmitted(request, { authenticated: auth !== undefined }))
      return this.#refuse(socket, 403, NOT_ADMITTED);
    if (!this.#door.hasRoom) return answerCrowded(socket);
    // The bearer of a share could fill the place of others with connections that ask for nothing.
    if (auth && !('share' in identity)) this.#door.admit(socket);
    // Without this, small messages wait for the acknowledgement of the previous one (40 ms each).
    if ('setNoDelay' in socket) (socket as Socket).setNoDelay(true);
    const upgrader = this.#compresses(request) ? this.#deflatingUpgrader : this.#upgrader;
    upgrader.handleUpgrade(request, socket, head, (webSocket) =>
      this.#accept(webSocket, socket, { ...identity, url: request.url ?? '/' }),
    );
  }

  /** Gives a client of the side service a place of its own, if there is one. */
  #makeRoom(socket: Duplex): boolean {
    const { hasRoom } = this.#door;
    if (hasRoom) this.#door.admit(socket);
    else answerCrowded(socket);
    return hasRoom;
  }

  #compresses({ socket, headers }: IncomingMessage): boolean {
    const { compression = 'remote' } = this.#options;
    if (asksForSmallWindow(headers['sec-websocket-extensions'])) return false;
    // Unix sockets have no remote address.
    const { remoteAddress } = socket;
    if (compression !== 'remote') return compression === 'always';
    return remoteAddress !== undefined && !isLoopback(remoteAddress);
  }

  #accept(
    webSocket: WebSocket,
    stream: Duplex,
    { leftover, ...identity }: ClientIdentity & { url: string; leftover?: Uint8Array },
  ): void {
    this.#connections += 1;
    const unsent = unsentOf(webSocket, stream);
    answerPings(webSocket);
    // Both a TCP and a unix socket, encrypted or not.
    const liveness = new Liveness(webSocket, stream as Socket, this.#options.liveness ?? DEFAULT_LIVENESS);
    const { address, binaryMessages = 'text' } = this.#options;
    const label = `${address.kind}#${this.#connections}`;
    const pass = (messages: readonly (string | Uint8Array)[]): PassedChannel | null =>
      passSocket(webSocket, stream, { messages, unsent });
    const channel = new WebSocketChannel(webSocket, label, {
      binaryMessages,
      stream,
      pass,
      unsent,
      leftover,
    });
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
      peer: peerOf(stream),
      probe: () => liveness.probe(),
      introduced: () => this.#door.admit(stream),
      ...identity,
    });
  }
}

function peerOf(socket: Duplex): string {
  const { remoteAddress, remotePort } = socket as Socket;
  return remoteAddress === undefined ? 'unix' : `${urlHost(remoteAddress)}:${remotePort}`;
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}
