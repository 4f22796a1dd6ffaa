import type { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isLoopback } from './listen-address.js';
import { type Newcomer, Newcomers } from './newcomers.js';

export interface DoorLimits {
  /** Connections of those who have shown who they are. Newcomers cannot take their places. */
  readonly maxConnections: number;
  readonly maxNewcomers: number;
  /** Of one address, or of one network of IPv6. This machine is not one: its programs have one address together. */
  readonly maxNewcomersPerOrigin: number;
}

export const DEFAULT_DOOR_LIMITS: DoorLimits = {
  maxConnections: 1024,
  // What the system lets wait in line at a time, so that a crowd that comes at once is not turned away.
  maxNewcomers: 512,
  maxNewcomersPerOrigin: 128,
};

/** How long somebody may take over his greeting: a TLS handshake, the head of a request. */
export const GREETING_MS = 10_000;
/** How long a connection may be idle between two plain requests. */
const IDLE_MS = 2_000;
/** For `createServer`: how often that is looked at. */
export const GREETING_CHECKS = { connectionsCheckingInterval: 1_000 };
/** Seconds. Newcomers are turned away for moments. */
const RETRY_AFTER_S = 1;

/** What those hear that are turned away, where there is a way to tell them. */
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

/** The connections of an HTTP server: few newcomers, not for long, and separate places for those who are known. */
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

  /** Whether there is room for one more who is known. */
  get hasRoom(): boolean {
    return this.#admitted < this.#limits.maxConnections;
  }

  /** He has shown who he is: from now on he has a place of his own. Once is enough. */
  admit(socket: Duplex): void {
    const newcomer = this.#waiting.get(this.#keyOf(socket));
    if (!newcomer) return;
    this.#forget(newcomer);
    this.#admitted += 1;
    socket.once('close', () => {
      this.#admitted -= 1;
    });
  }

  /** He stays a newcomer, but has to be turned away in another manner. */
  turnAwayBy(socket: Duplex, turnAway: () => void): void {
    const newcomer = this.#waiting.get(this.#keyOf(socket));
    if (newcomer) newcomer.turnAway = turnAway;
  }

  #arrived(socket: Socket): void {
    const newcomer: Waiting = {
      key: this.#keyOf(socket),
      origin: originOf(socket.remoteAddress),
      // Whoever expects TLS could not read the answer.
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

  /** An encrypted connection is another object than the one that arrived, at the same address. */
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

/** Says why, and does not wait for him to hear it: those who hold places would hold them a while longer. */
export function answerCrowded(socket: Duplex): void {
  socket.on('error', () => undefined);
  socket.end(CROWDED_ANSWER, () => socket.destroy());
}

const THIS_MACHINE = 'this machine';

/** Whoever has one address of an IPv6 network has all of it. */
export function originOf(address: string | undefined): string {
  if (address === undefined || isLoopback(address)) return THIS_MACHINE;
  if (!address.includes(':') || address.includes('.')) return address;
  const [front = '', back] = address.split('::');
  const groups = front.split(':').filter((group) => group !== '');
  const missing = back === undefined ? 0 : 8 - groups.length - back.split(':').filter(Boolean).length;
  return [...groups, ...Array<string>(missing).fill('0'), ...(back ?? '').split(':')].slice(0, 4).join(':');
}
