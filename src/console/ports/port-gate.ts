import { randomInt } from 'node:crypto';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Admission } from '../../transport/admission.js';
import { Door, GREETING_CHECKS, GREETING_MS } from '../../transport/door.js';
import { GateEntrance, type GatePlace, refuse } from './gate-entrance.js';
import { type ConnectPort, GateProxy } from './gate-proxy.js';

export interface GateOptions {
  readonly port: number;
  readonly connect: ConnectPort;
  readonly admission: Admission | undefined;
  /** Null for plain HTTP, on loopback only. */
  readonly tls: {
    readonly cert: Buffer;
    readonly key: Buffer;
    /** Where the console listens. */
    readonly address: string;
    /** The name under which the browser reached it. */
    readonly host: string;
  } | null;
}

/**
 * A port of a machine, for one browser: a listener of its own, and so an origin of its own. What the program answers never gets to
 * run in the origin of the console.
 */
export class PortGate {
  readonly #server: Server;
  readonly #door: Door;
  readonly #entrance: GateEntrance;
  /** Those that HTTP no longer knows about. */
  readonly #upgraded = new Set<Duplex>();

  private constructor(server: Server, place: GatePlace, options: GateOptions) {
    this.#server = server;
    this.#door = new Door(server);
    // What people upload takes longer than what a page asks of the console.
    server.requestTimeout = 0;
    this.#entrance = new GateEntrance(place, options.admission);
    const proxy = new GateProxy(
      { origin: place.origin, inside: `localhost:${options.port}` },
      options.connect,
    );
    server.on('request', (request, response) => {
      if (!this.#entrance.admits(request, response)) return;
      this.#door.admit(request.socket);
      proxy.pass(request, response).catch(() => refuse(response, 502, 'The port cannot be reached.'));
    });
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      if (!this.#entrance.admitsUpgrade(request))
        return void socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      this.#door.admit(socket);
      this.#upgraded.add(socket);
      socket.on('close', () => this.#upgraded.delete(socket));
      proxy.passUpgrade(request, socket, head).catch(() => socket.destroy());
    });
    server.on('error', () => undefined);
  }

  static async open(options: GateOptions): Promise<PortGate> {
    const { tls } = options;
    if (tls) {
      const server = createHttpsServer({ ...GREETING_CHECKS, ...tls, handshakeTimeout: GREETING_MS });
      const port = await listen(server, tls.address);
      const origin = `https://${tls.host}:${port}`;
      return new PortGate(server, { origin, port, isEncrypted: true, isFresh: false }, options);
    }
    const server = createHttpServer(GREETING_CHECKS);
    const address = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
    const [host, port] = await listen(server, address).then(
      (port) => [address, port] as const,
      // Not every system has all of these addresses.
      async () => ['127.0.0.1', await listen(server, '127.0.0.1')] as const,
    );
    const isFresh = host === address;
    const place = { origin: `http://${host}:${port}`, port, isEncrypted: false, isFresh };
    return new PortGate(server, place, options);
  }

  /** An address that opens the port in a browser, once. */
  newAddress(): string {
    return this.#entrance.newAddress();
  }

  /** Stops listening and ends all connections. Idempotent. */
  close(): void {
    this.#entrance.close();
    this.#server.close();
    this.#server.closeAllConnections();
    for (const socket of this.#upgraded) socket.destroy();
  }
}

/** Resolves to the port. */
async function listen(server: Server, address: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, address, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // A bound TCP server has an AddressInfo.
  return (server.address() as AddressInfo).port;
}
