import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { WebSocket } from 'ws';

/** Moves texts to and from a server. What the three transports have in common for a test. */
export interface Wire {
  send(text: string): void;
  onText(listener: (text: string) => void): void;
  onClose(listener: (info: { code?: number; reason?: string }) => void): void;
  close(): void;
}

/** The pipes of a server as a wire: one message, one line. */
export function lineWire({ stdin, stdout }: { stdin: Writable; stdout: Readable }): Wire {
  const lines = createInterface({ input: stdout });
  return {
    send: (text) => stdin.write(`${text}\n`),
    onText: (listener) => lines.on('line', listener),
    onClose: (listener) => lines.on('close', () => listener({})),
    close: () => stdin.end(),
  };
}

export interface WireNotification {
  readonly method: string;
  readonly params: Record<string, unknown> & { processId: string; seq: number };
}

export interface WireAnswer {
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: { code?: string } };
}

/**
 * Speaks the wire by hand, without any of our own client code: what it sees is what any client would see.
 * Everything that arrives is kept in order of arrival.
 */
export class WireClient {
  readonly arrivals: (WireAnswer | WireNotification)[] = [];
  readonly #wire: Wire;
  readonly #watchers = new Set<() => void>();
  #nextId = 1;
  closed: { code?: number; reason?: string } | undefined;

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.onText((text) => {
      this.arrivals.push(JSON.parse(text) as WireAnswer);
      this.#changed();
    });
    wire.onClose((info) => {
      this.closed = info;
      this.#changed();
    });
  }

  send(text: string): void {
    this.#wire.send(text);
  }

  /** Sends a request and waits for its answer, error or result. */
  async ask(method: string, params?: unknown): Promise<WireAnswer> {
    const id = `t${this.#nextId++}`;
    this.send(JSON.stringify({ id, method, params }));
    return await this.answerTo(id);
  }

  answerTo(id: unknown): Promise<WireAnswer> {
    return this.until(() => this.arrivals.find((each): each is WireAnswer => 'id' in each && each.id === id));
  }

  /** The result of a request that must succeed. */
  async call(method: string, params?: unknown): Promise<Record<string, unknown>> {
    const answer = await this.ask(method, params);
    if (!answer.result) throw new Error(`${method} failed: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  /** The error code of a request that must fail. */
  async refusal(method: string, params?: unknown): Promise<number> {
    const { error } = await this.ask(method, params);
    if (!error) throw new Error(`${method} did not fail`);
    return error.code;
  }

  async handshake(options: { resumeSessionId?: string; capabilities?: unknown } = {}): Promise<string> {
    const { sessionId } = await this.call('initialize', { clientName: 'test', ...options });
    this.send('{"method":"initialized","params":{}}');
    return String(sessionId);
  }

  events(processId: string): WireNotification[] {
    return this.arrivals.filter(
      (each): each is WireNotification => 'method' in each && each.params.processId === processId,
    );
  }

  /** All events of a process, once it has closed. */
  async closedEvents(processId: string): Promise<WireNotification[]> {
    await this.until(() => this.events(processId).find(({ method }) => method === 'process/closed'));
    return this.events(processId);
  }

  output(processId: string): Buffer {
    return outputOf(this.events(processId));
  }

  /** Waits until something that arrives makes `probe` answer. */
  until<Value>(probe: () => Value | undefined | false): Promise<Value> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const value = probe();
        if (value !== undefined && value !== false) {
          this.#watchers.delete(look);
          resolve(value);
        } else if (this.closed) {
          this.#watchers.delete(look);
          reject(new Error(`the connection closed: ${JSON.stringify(this.closed)}`));
        }
      };
      this.#watchers.add(look);
      look();
    });
  }

  untilClosed(): Promise<{ code?: number; reason?: string }> {
    return this.until(() => this.closed);
  }

  close(): void {
    this.#wire.close();
  }

  #changed(): void {
    for (const look of [...this.#watchers]) look();
  }
}

export function outputOf(events: readonly WireNotification[]): Buffer {
  const chunks = events.filter(({ method }) => method === 'process/output');
  return Buffer.concat(chunks.map(({ params }) => Buffer.from(String(params.chunk), 'base64')));
}

/** A process to start with everything but what matters to the test filled in. */
export function startParams(processId: string, argv: string[], more: Record<string, unknown> = {}): object {
  return { processId, argv, cwd: 'file:///', env: { PATH: '/usr/bin:/bin' }, tty: false, ...more };
}

export function sh(script: string): string[] {
  return ['/bin/sh', '-c', script];
}

/** Connects a WebSocket, with headers a test wants to forge. */
export async function dialWire(
  url: string,
  options: { headers?: Record<string, string>; rejectUnauthorized?: boolean } = {},
): Promise<{ client: WireClient; socket: WebSocket }> {
  const target = url.startsWith('unix://') ? `ws+unix://${url.slice('unix://'.length)}:/` : url;
  const socket = new WebSocket(target, { ...options, perMessageDeflate: false });
  const client = new WireClient({
    send: (text) => socket.send(text),
    // Binary frames come only where a test asked for them, and are read there.
    onText: (listener) =>
      socket.on('message', (data: Buffer, isBinary: boolean) => {
        if (!isBinary) listener(data.toString());
      }),
    onClose: (listener) =>
      socket.on('close', (code: number, reason: Buffer) => listener({ code, reason: reason.toString() })),
    close: () => socket.close(),
  });
  socket.on('error', () => undefined);
  await Promise.race([
    once(socket, 'open'),
    once(socket, 'close').then(() => Promise.reject(new Error('the connection was refused'))),
  ]);
  return { client, socket };
}
