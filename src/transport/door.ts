import type { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isLoopback } from './listen-address.js';
import { type Newcomer, Newcomers } from './newcomers.js';

export interface DoorLimits {
  /** Connections of clients that have authenticated or completed the handshake. Newcomers cannot take these places. */
  readonly maxConnections: number;
  readonly maxNewcomers: number;
  /** Per address or IPv6 network. Loopback is exempt, because all local programs share one address. */
  readonly maxNewcomersPerOrigin: number;
}

const DEFAULT_DOOR_LIMITS: DoorLimits = {
  maxConnections: 1024,
  // The system's accept backlog, so that a burst of connections is not refused.
  maxNewcomers: 512,
  maxNewcomersPerOrigin: 128,
};

/** How long a newcomer may take for its TLS handshake and request head. */
export const GREETING_MS = 10_000;
/** How long a connection may be idle between two plain HTTP requests. */
const IDLE_MS = 2_000;
/** For `createServer`: how often those timeouts are checked. */
export const GREETING_CHECKS = { connectionsCheckingInterval: 1_000 };
/** In seconds. Newcomers are refused only briefly. */
const RETRY_AFTER_S = 1;

/** The answer to refused clients, where they can be answered. */
const CROWDED = JSON.stringify({
  code: 'overloaded',
  message: 'There are too many connections. Try again later.',
});

const CROWDED_ANSWER = [
  'HTTP/1.1 503 Service Unavailable',
  `retry-after: ${RETRY_AFTER_S}`,
  'content-type: application/json',
  `content-length: ${CROWDED.length}`,
  'connection: close',
  '',
  CROWDED,
].join('\r\n');

/** Limits the connections of an HTTP server: few newcomers, for a short time, and separate places for known clients. */
export class Door {
  readonly #limits: DoorLimits;
  readonly #newcomers: Newcomers;
  readonly #waiting = new Map<unknown, Waiting>();
  readonly #encrypted: boolean;
  #admitted = 0;

  constructor(server: HttpServer | HttpsServer, limits: DoorLimits = DEFAULT_DOOR_LIMITS) {
    this.#limits = limits;
    this.#encrypted = server instanceof HttpsServer;
    this.#newcomers = new Newcomers({
      max: limits.maxNewcomers,
      maxFrom: (origin) => (origin === THIS_MACHINE ? limits.maxNewcomers : limits.maxNewcomersPerOrigin),
    });
    server.headersTimeout = GREETING_MS;
    server.requestTimeout = GREETING_MS;
    server.keepAliveTimeout = IDLE_MS;
    server.on('connection', (socket: Socket) => this.#arrived(socket));
    server.on('secureConnection', (socket: Socket) => this.turnAwayBy(socket, () => answerCrowded(socket)));
  }

  /** Whether there is room for another known client. */
  get hasRoom(): boolean {
    return this.#admitted < this.#limits.maxConnections;
  }

  /** The client has identified itself and gets a place of its own. Idempotent. */
  admit(socket: Duplex): void {
    const newcomer = this.#waiting.get(this.#keyOf(socket));
    if (!newcomer) return;
    this.#forget(newcomer);
    this.#admitted += 1;
    socket.once('close', () => {
      this.#admitted -= 1;
    });
  }

  /** A client that had a place in another server. */
  readmit(socket: Duplex): void {
    this.#admitted += 1;
    socket.once('close', () => {
      this.#admitted -= 1;
    });
  }

  /** The client stays a newcomer but must be turned away in a different way. */
  turnAwayBy(socket: Duplex, turnAway: () => void): void {
    const newcomer = this.#waiting.get(this.#keyOf(socket));
    if (newcomer) newcomer.turnAway = turnAway;
  }

  #arrived(socket: Socket): void {
    const newcomer: Waiting = {
      key: this.#keyOf(socket),
      origin: originOf(socket.remoteAddress),
      // A client that expects TLS could not read the answer.
      turnAway: this.#encrypted ? () => socket.destroy() : () => answerCrowded(socket),
    };
    this.#waiting.set(newcomer.key, newcomer);
    socket.once('close', () => this.#forget(newcomer));
    this.#newcomers.add(newcomer);
  }

  #forget(newcomer: Waiting): void {
    if (this.#waiting.get(newcomer.key) === newcomer) this.#waiting.delete(newcomer.key);
    this.#newcomers.remove(newcomer);
  }

  /** A TLS socket is a different object than the TCP socket it arrived on, but has the same address. */
  #keyOf(socket: Duplex): unknown {
    if (!this.#encrypted) return socket;
    const { remoteAddress, remotePort } = socket as Socket;
    return `${remoteAddress} ${remotePort}`;
  }
}

interface Waiting extends Newcomer {
  readonly key: unknown;
  turnAway: () => void;
}

/** Explains the refusal without waiting for the client to read it, which would let it hold its place longer. */
export function answerCrowded(socket: Duplex): void {
  socket.on('error', () => undefined);
  socket.end(CROWDED_ANSWER, () => socket.destroy());
}

const THIS_MACHINE = 'this machine';

/** A client that controls one address of an IPv6 network controls all of them. */
export function originOf(address: string | undefined): string {
  if (address === undefined || isLoopback(address)) return THIS_MACHINE;
  if (!address.includes(':') || address.includes('.')) return address;
  const [front = '', back] = address.split('::');
  const groups = front.split(':').filter((group) => group !== '');
  const missing = back === undefined ? 0 : 8 - groups.length - back.split(':').filter(Boolean).length;
  return [...groups, ...Array<string>(missing).fill('0'), ...(back ?? '').split(':')].slice(0, 4).join(':');
}
