import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { FrameDecoder } from './frame-decoder.js';
import { type RpcMessage, WireLog, type WireMessage } from './wire-log.js';

/** A TCP relay in front of a server: it reads along, and breaks the connection when a test says so. */
export class CutProxy implements AsyncDisposable {
  readonly log = new WireLog();
  readonly #server = createServer((client) => this.#relay(client));
  readonly #sockets = new Set<Socket>();
  #target: URL;
  #refusing = false;
  #connections = 0;
  #breakAt: ((message: WireMessage) => boolean) | undefined;

  private constructor(targetUrl: string) {
    this.#target = new URL(targetUrl);
  }

  /** Starts relaying to a `ws://` address. */
  static async open(targetUrl: string): Promise<CutProxy> {
    const proxy = new CutProxy(targetUrl);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The address to give to Codex. It stays the same whatever is behind it. */
  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks every connection and turns new ones away until `heal`. */
  cut(): void {
    this.#refusing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Lets connections through again, to another server if one is given. */
  heal(targetUrl?: string): void {
    if (targetUrl !== undefined) this.#target = new URL(targetUrl);
    this.#refusing = false;
  }

  /** Breaks the connection once, in the middle of the first message from the server that matches. */
  breakInside(matches: (message: WireMessage) => boolean): void {
    this.#breakAt = matches;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #relay(client: Socket): void {
    if (this.#refusing) {
      client.destroy();
      return;
    }
    this.#connections += 1;
    const connection = this.#connections;
    const server = connect(Number(this.#target.port), this.#target.hostname);
    this.#forward(client, server, this.#recorder(connection, 'client'));
    this.#forward(server, client, this.#recorder(connection, 'server'));
  }

  /** Moves bytes one way until either side ends; then both do. */
  #forward(source: Socket, sink: Socket, record: (bytes: Buffer) => number): void {
    this.#sockets.add(source);
    source.setNoDelay(true);
    source.on('data', (bytes: Buffer) => {
      const passing = record(bytes);
      if (!sink.write(bytes.subarray(0, passing))) source.pause();
      if (passing < bytes.length) source.destroy();
    });
    sink.on('drain', () => source.resume());
    // A reset is one of the ways a connection ends here; 'close' follows and does the work.
    source.on('error', () => undefined);
    source.on('close', () => {
      this.#sockets.delete(source);
      sink.destroySoon();
    });
  }

  /** Logs one direction of a connection; tells for each piece how many of its bytes may pass. */
  #recorder(connection: number, from: WireMessage['from']): (bytes: Buffer) => number {
    const decoder = new FrameDecoder();
    return (bytes) => {
      for (const { text, end } of decoder.push(bytes)) {
        const message = { ...(JSON.parse(text) as RpcMessage), connection, from };
        this.log.add(message);
        if (from === 'server' && this.#breakAt?.(message)) {
          this.#breakAt = undefined;
          // The last byte of the message never leaves: the other side is left with an unfinished frame.
          return end - 1;
        }
      }
      return bytes.length;
    };
  }
}
