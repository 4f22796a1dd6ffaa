import { createConnection, type Socket } from 'node:net';
import { join } from './join.js';

/** Connections over one bridge at a time. */
const MAX_CONNECTIONS = 512;

/** Leads from a sandbox to a proxy that somebody else runs on this machine's loopback. */
export class Bridge {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #closed = false;

  constructor(port: number) {
    this.#port = port;
  }

  serve(socket: Socket): void {
    if (this.#closed || this.#sockets.size >= 2 * MAX_CONNECTIONS) return void socket.destroy();
    const there = createConnection({
      host: '127.0.0.1',
      port: this.#port,
      allowHalfOpen: true,
      noDelay: true,
    });
    for (const each of [socket, there]) {
      this.#sockets.add(each);
      each.on('close', () => this.#sockets.delete(each));
    }
    join(socket, there);
  }

  /** Ends every connection. */
  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
