import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP relay on loopback that can stall or cut what goes through it, at any byte. */
export class CutProxy implements AsyncDisposable {
  readonly #server: Server;
  #target: URL;
  readonly #pairs = new Set<{ near: Socket; far: Socket }>();
  #reachable = true;
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

  /** Lets the client believe it is connected while the server sees it go. */
  cutServerSide(): void {
    for (const { far } of this.#pairs) far.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
  }

  #relay(near: Socket, far: Socket): void {
    const pair = { near, far };
    this.#pairs.add(pair);
    near.setNoDelay(true);
    far.setNoDelay(true);
    near.pipe(far);
    far.on('data', (data: Buffer) => {
      this.bytesToClients += data.length;
      if (!near.write(data)) far.pause();
      this.onBytes?.(this.bytesToClients);
    });
    near.on('drain', () => far.resume());
    far.on('end', () => near.end());
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  }
}
