import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that ends connections when told to, in the middle of whatever is on its way. */
export class CutProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #budget = Number.POSITIVE_INFINITY;
  #onCut: (() => void) | undefined;
  cuts = 0;

  private constructor(target: { host: string; port: number }) {
    this.#server = createServer((client) => this.#join(client, connect(target)));
  }

  static async open(target: { host: string; port: number }): Promise<CutProxy> {
    const proxy = new CutProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts once this many more bytes went from the server to its clients. Then calls back. */
  cutAfter(bytes: number, onCut: () => void): void {
    this.#budget = bytes;
    this.#onCut = onCut;
  }

  /** Ends every connection at once. */
  cut(): void {
    this.cuts += 1;
    this.#budget = Number.POSITIVE_INFINITY;
    for (const socket of this.#sockets) socket.destroy();
    this.#onCut?.();
  }

  async close(): Promise<void> {
    this.#onCut = undefined;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.on('data', (data: Buffer) => {
      const passed = data.subarray(0, Math.max(0, this.#budget));
      this.#budget -= passed.length;
      if (!client.write(passed)) server.pause();
      if (this.#budget <= 0) this.cut();
    });
    client.on('drain', () => server.resume());
  }
}
