import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { ExecError } from '../protocol/errors.js';
import { isAllowedHost } from '../transport/browser-guard.js';
import { Door, GREETING_CHECKS } from '../transport/door.js';
import { isLoopback } from '../transport/listen-address.js';
import { listenAt } from '../transport/listen-failure.js';
import type { ServerMetrics } from './server-metrics.js';

/** A scraper asks every few seconds. Of more connections than these the oldest makes room, as it is answered in no time. */
const LIMITS = { maxConnections: 16, maxNewcomers: 16, maxNewcomersPerOrigin: 8 };
const MAX_PORT = 65_535;
/** Beside the address itself. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];
const NOT_ADMITTED = 'connections from sandboxes are not served\n';
const NOT_FOR_PAGES = 'browsers are not served; use localhost or an address\n';

export interface MetricsOptions {
  readonly metrics: ServerMetrics;
  /** Accepts or rejects a connection by its origin. */
  readonly admits: (ends: Socket) => boolean;
}

/**
 * Whether a page in a browser may have sent this. Pages reach loopback under a name of theirs that they have rebound; what is
 * open to a network may have any name there.
 */
function isFromPage({ headers, socket }: IncomingMessage): boolean {
  if (headers.origin !== undefined) return true;
  const { localAddress: host = '', localPort: port = 0 } = socket;
  return isLoopback(host) && !isAllowedHost(headers.host, { kind: 'tcp', host, port }, LOOPBACK_NAMES);
}

/** Answers `/metrics` and `/healthz` on a port of its own. Nothing here leads to the server's own methods. */
export class MetricsListener {
  readonly #server: Server;

  private constructor({ metrics, admits }: MetricsOptions) {
    this.#server = createServer(GREETING_CHECKS, (request, response) => {
      const path = (request.url ?? '').split('?', 1)[0];
      if (!admits(request.socket)) response.writeHead(403, { connection: 'close' }).end(NOT_ADMITTED);
      else if (request.method !== 'GET' && request.method !== 'HEAD')
        response.writeHead(405, { allow: 'GET, HEAD' }).end();
      else if (path === '/healthz' || path === '/readyz')
        response.writeHead(200, { 'content-length': 0 }).end();
      else if (path !== '/metrics') response.writeHead(404).end();
      else if (isFromPage(request)) response.writeHead(403).end(NOT_FOR_PAGES);
      else
        void metrics.registry.metrics().then(
          (text) => response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text),
          () => response.writeHead(500).end(),
        );
    });
    // It ends with the server.
    void new Door(this.#server, LIMITS);
  }

  /** `address`: `IP:PORT`, or `[IP]:PORT`. */
  static async open(address: string, options: MetricsOptions): Promise<MetricsListener> {
    const [, six, four, port] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(address) ?? [];
    const host = six ?? four;
    if (host === undefined || Number(port) > MAX_PORT)
      throw new ExecError('invalidConfiguration', '--metrics takes IP:PORT, such as 127.0.0.1:9464.');
    const listener = new MetricsListener(options);
    try {
      await listenAt(listener.#server, { host, port: Number(port) });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new ExecError('invalidConfiguration', `Metrics cannot be served. ${why}`, { cause });
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
