import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ExecError } from '../protocol/errors.js';
import type { ServerMetrics } from './server-metrics.js';

/** A scraper asks every few seconds; more connections than these are refused. */
const MAX_CONNECTIONS = 16;
const REQUEST_TIMEOUT_MS = 5_000;

/** Answers `/metrics` and `/healthz` on a port of its own. Nothing here leads to the server's own methods. */
export class MetricsListener {
  readonly #server: Server;

  private constructor(metrics: ServerMetrics) {
    this.#server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
      const path = (request.url ?? '').split('?', 1)[0];
      if (request.method !== 'GET' && request.method !== 'HEAD')
        response.writeHead(405, { allow: 'GET, HEAD' }).end();
      else if (path === '/healthz' || path === '/readyz')
        response.writeHead(200, { 'content-length': 0 }).end();
      else if (path !== '/metrics') response.writeHead(404).end();
      else
        void metrics.registry.metrics().then(
          (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** `address`: `IP:PORT`, or `[IP]:PORT`. */
  static async open(address: string, metrics: ServerMetrics): Promise<MetricsListener> {
    const [, six, four, port] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(address) ?? [];
    const host = six ?? four;
    if (host === undefined)
      throw new ExecError('invalidConfiguration', '--metrics takes IP:PORT, such as 127.0.0.1:9464.');
    const listener = new MetricsListener(metrics);
    try {
      listener.#server.listen(Number(port), host);
      await once(listener.#server, 'listening');
    } catch (cause) {
      throw new ExecError('invalidConfiguration', `Cannot serve metrics on ${address}.`, { cause });
    }
    listener.#server.on('error', () => undefined);
    return listener;
  }

  get url(): string {
    // A bound TCP server has an AddressInfo.
    const { address, family, port } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
