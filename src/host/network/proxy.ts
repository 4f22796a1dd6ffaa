import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import type { Gate } from './gate.js';
import { HttpProxy } from './http-proxy.js';
import { serveSocks, SOCKS_VERSION } from './socks.js';

/** Connections of one sandbox at the same time: enough for any package manager. */
const MAX_CONNECTIONS = 512;

/** Of all sandboxes together: each takes two descriptors of the server, which others need as well. */
const MAX_ALL_CONNECTIONS = 2_048;
let connections = 0;

/** How long a client may take for its first byte. */
const FIRST_BYTE_MS = 30_000;

export interface ProxyOptions {
  /** Whether it speaks SOCKS as well. Default true. */
  readonly socks?: boolean | undefined;
}

/** The way out of a sandbox: speaks HTTP and SOCKS on one port, and lets through what its gate admits. */
export class Proxy {
  readonly #gate: Gate;
  readonly #http: HttpProxy;
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();
  readonly #socks: boolean;

  constructor(gate: Gate, { socks = true }: ProxyOptions = {}) {
    this.#gate = gate;
    this.#socks = socks;
    // Each connection listens, and there may be many.
    setMaxListeners(0, this.#closing.signal);
    this.#http = new HttpProxy(gate, this.#closing.signal);
  }

  serve(socket: Socket): void {
    const isFull = this.#sockets.size >= MAX_CONNECTIONS || connections >= MAX_ALL_CONNECTIONS;
    if (this.#closing.signal.aborted || isFull) return void socket.destroy();
    this.#sockets.add(socket);
    connections += 1;
    socket.on('close', () => {
      this.#sockets.delete(socket);
      connections -= 1;
    });
    socket.on('error', () => socket.destroy());
    socket.setNoDelay(true);
    socket.setTimeout(FIRST_BYTE_MS, () => socket.destroy());
    socket.once('readable', () => {
      socket.setTimeout(0);
      const first = socket.read(1) as Buffer | null;
      if (first === null) return void socket.destroy();
      socket.unshift(first);
      if (first[0] === SOCKS_VERSION && this.#socks)
        serveSocks(socket, this.#gate, this.#closing.signal).catch(() => socket.destroy());
      else this.#http.serve(socket);
    });
  }

  /** Ends every connection. What a program may reach ends with the program. */
  close(): void {
    this.#closing.abort();
    this.#http.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
