import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { descriptorOf, stopReading } from './descriptor-of.js';

/** The connections of an HTTP server that have not got to the point of being used or answered. */
export class Greetings {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Only of these another server could begin with the first byte. */
  readonly #canPass: boolean;
  /** Those that came since it rests. */
  readonly #arrived: Socket[] = [];
  #emptied: (() => void) | undefined;

  constructor(server: Server, { encrypted }: { encrypted: boolean }) {
    this.#server = server;
    this.#canPass = !encrypted;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.over(socket));
    });
  }

  /** It is used now, or was refused. */
  over(socket: unknown): void {
    this.#sockets.delete(socket as Socket);
    this.#look();
  }

  /**
   * From here on, nothing is read from new connections. Resolves when all that had begun to speak are over; under TLS, that
   * is all of them.
   */
  rest(): Promise<void> {
    const server: Server & { pauseOnConnect?: boolean } = this.#server;
    server.pauseOnConnect = true;
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => this.#arrived.push(socket));
    return new Promise((resolve) => {
      this.#emptied = resolve;
      this.#look();
    });
  }

  /** Descriptors of connections that nothing was read from. */
  untouched(): number[] {
    const sockets = this.#canPass ? [...this.#sockets].filter(({ bytesRead }) => bytesRead === 0) : [];
    for (const socket of sockets) stopReading(socket);
    return [...sockets, ...this.#arrived].map(descriptorOf).filter((fd) => fd !== null);
  }

  #look(): void {
    const hasBegun = [...this.#sockets].some(({ bytesRead }) => !this.#canPass || bytesRead > 0);
    if (!hasBegun) this.#emptied?.();
  }
}
