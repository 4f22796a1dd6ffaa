import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  swallowed: boolean;
}

/** A TCP relay on loopback that can stall or cut what goes through it, at any byte. */
export class CutProxy implements AsyncDisposable {
  readonly #server: Server;
  #target: URL;
  readonly #pairs = new Set<Pair>();
  #reachable = true;
  #stalled = false;
  /** Bytes from the server to clients so far. */
  bytesToClients = 0;
  /** Called with every piece on its way to a client. */
  onBytes: ((total: number) => void) | undefined;

  private constructor(server: Server, target: URL) {
    this.#server = server;
    this.#target = target;
  }

  /** Relays to the server behind a `ws://` URL. */
  static async to(url: string): Promise<CutProxy> {
    const server = createServer();
    const proxy = new CutProxy(server, new URL(url));
    server.on('connection', (near) => {
      const { port, hostname } = proxy.#target;
      if (proxy.#reachable) proxy.#relay(near, connect(Number(port), hostname));
      else near.resetAndDestroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Relays new connections to another server: one that was started again, but not necessarily at its old address. */
  leadTo(url: string): void {
    this.#target = new URL(url);
  }

  /** Ends every connection without a goodbye. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    this.#pairs.clear();
  }

  /** Ends every connection and takes no new ones, until `restore`. */
  interrupt(): void {
    this.#reachable = false;
    this.cut();
  }

  restore(): void {
    this.#reachable = true;
  }

  /** Lets nothing through, on new connections either, and loses nothing. */
  stall(): void {
    this.#stalled = true;
    for (const { near, far } of this.#pairs) {
      near.unpipe(far);
      near.pause();
      far.pause();
    }
  }

  release(): void {
    this.#stalled = false;
    for (const { near, far } of this.#pairs) {
      near.pipe(far);
      far.resume();
    }
  }

  /** Swallows from now on whatever is said on the connections there are, both ways. Nobody hears of it. */
  swallow(): void {
    for (const pair of this.#pairs) {
      pair.swallowed = true;
      pair.near.unpipe(pair.far);
      pair.near.resume();
    }
  }

  /** Lets the client believe it is connected while the server sees it go. */
  cutServerSide(): void {
    for (const { far } of this.#pairs) far.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
  }

  #relay(near: Socket, far: Socket): void {
    const pair: Pair = { near, far, swallowed: false };
    this.#pairs.add(pair);
    near.setNoDelay(true);
    far.setNoDelay(true);
    if (!this.#stalled) near.pipe(far);
    far.on('data', (data: Buffer) => {
      if (pair.swallowed) return;
      this.bytesToClients += data.length;
      if (!near.write(data)) far.pause();
      this.onBytes?.(this.bytesToClients);
    });
    if (this.#stalled) far.pause();
    near.on('drain', () => {
      if (!this.#stalled) far.resume();
    });
    far.on('end', () => near.end());
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (pair.swallowed) return;
        this.#pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  }
}
