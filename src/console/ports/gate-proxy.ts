import {
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { isExecError } from '../../protocol/errors.js';
import { refuse } from './gate-entrance.js';
import { type GateNames, headersInside, headersOutside } from './gate-headers.js';

const NOT_HTTP = 'Nothing that speaks HTTP answers on this port.';

/** A program may send any number. */
const FIRST_STATUS = 200;

/** A connection to the port, through the machine it is on. */
export type ConnectPort = () => Promise<Duplex>;

/** Passes HTTP between a browser and a port, one connection for each request. */
export class GateProxy {
  readonly #names: GateNames;
  readonly #connect: ConnectPort;

  constructor(names: GateNames, connect: ConnectPort) {
    this.#names = names;
    this.#connect = connect;
  }

  async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await this.#send(request, (error) => {
      refuse(response, 502, sentenceOf(error));
    });
    if (!sent) return;
    response.on('close', () => sent.destroy());
    const misunderstood = (): void => {
      refuse(response, 502, NOT_HTTP);
      sent.destroy();
    };
    sent.on('response', (answer) => {
      const { statusCode = 0 } = answer;
      if (statusCode < FIRST_STATUS) return misunderstood();
      response.writeHead(statusCode, headersOutside(answer.headers, this.#names));
      pipeline(answer, response, () => sent.destroy());
    });
    sent.on('upgrade', (_answer, inside) => {
      inside.destroy();
      misunderstood();
    });
    pipeline(request, sent, () => undefined);
  }

  /** The same for a WebSocket: once both have agreed, bytes go back and forth. */
  async passUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const sent = await this.#send(request, () => socket.destroy(), {
      connection: 'Upgrade',
      upgrade: request.headers.upgrade,
    });
    if (!sent) return;
    socket.on('close', () => sent.destroy());
    sent.on('response', ({ statusCode }) => {
      // It was refused, and why is of no use to a page.
      socket.end(`HTTP/1.1 ${statusCode ?? 502} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      sent.destroy();
    });
    sent.on('upgrade', ({ headers }, inside, first) => {
      const agreed = { connection: 'Upgrade', upgrade: headers.upgrade };
      socket.write(
        headText('101 Switching Protocols', { ...headersOutside(headers, this.#names), ...agreed }),
      );
      if (first.length > 0) socket.write(first);
      if (head.length > 0) inside.write(head);
      socket.on('close', () => inside.destroy());
      inside.on('close', () => socket.destroy()).on('error', () => socket.destroy());
      socket.pipe(inside).pipe(socket);
    });
    sent.end();
  }

  /** Begins the request inside. Undefined if the port cannot be reached. */
  async #send(
    { method, url, headers }: IncomingMessage,
    failed: (error: Error) => void,
    more: Record<string, string | undefined> = { connection: 'close' },
  ): Promise<ClientRequest | undefined> {
    try {
      const stream = await this.#connect();
      const sent = httpRequest({
        method,
        path: url,
        headers: { ...headersInside(headers, this.#names), ...more },
        createConnection: () => stream,
      });
      return sent.on('error', failed);
    } catch (error) {
      failed(error instanceof Error ? error : new Error(String(error)));
      return undefined;
    }
  }
}

function headText(status: string, headers: Record<string, unknown>): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each) => `${name}: ${String(each)}`),
  );
  return [`HTTP/1.1 ${status}`, ...lines, '', ''].join('\r\n');
}

function sentenceOf(error: Error): string {
  return isExecError(error) ? error.message : NOT_HTTP;
}
