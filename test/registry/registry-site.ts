import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { SUITE } from '../../src/registry/public-key.js';
import { decodeFrame, encodeFrame, type FrameBody } from '../../src/registry/relay/relay-frame.js';
import { Registry } from '../../src/registry/service/index.js';
import type { RegisteredMachine } from '../../src/registry/service/registry.js';
import { WebSocketListener } from '../../src/transport/index.js';

/** A key nobody has the other half of: the registry does no cryptography. */
export function someKey(): Record<string, string> {
  return {
    suite: SUITE,
    x25519_public_key: randomBytes(32).toString('base64'),
    mlkem768_public_key: randomBytes(1184).toString('base64'),
  };
}

/** A registry on loopback. Tokens are `machine-…` and `client-…`; those that end in `-a` may use `a` only. */
export class RegistrySite implements AsyncDisposable {
  readonly url: string;
  readonly #registry: Registry;
  readonly #listener: WebSocketListener;

  private constructor(registry: Registry, listener: WebSocketListener) {
    this.#registry = registry;
    this.#listener = listener;
    this.url = listener.url.replace('ws', 'http');
  }

  static async open(publicUrl?: string): Promise<RegistrySite> {
    const known = new Map<string, { name: string; may: (id: string) => boolean }>();
    const bearer = (token: string): { name: string; may: (id: string) => boolean } => {
      const found = known.get(token) ?? { name: token, may: (id) => !token.endsWith('-a') || id === 'a' };
      known.set(token, found);
      return found;
    };
    const registry = new Registry({
      tokens: {
        executorOf: (token) => (token.startsWith('machine') ? bearer(token) : undefined),
        clientOf: (token) => (token.startsWith('client') ? bearer(token) : undefined),
      },
      publicUrl,
    });
    const listener = await WebSocketListener.open({
      address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
      side: registry,
      onConnection: (channel) => channel.reject('not expected'),
    });
    return new RegistrySite(registry, listener);
  }

  /** What it tells of its machines. */
  machines(): RegisteredMachine[] {
    return this.#registry.machines();
  }

  /** Makes a call, and returns the status and the answer. */
  async call(
    path: string,
    { token, body, headers = {}, method = 'POST' }: CallOptions,
  ): Promise<{
    status: number;
    answer: Record<string, string> & { error?: { code: string; message: string } };
  }> {
    const response = await fetch(`${this.url}/cloud/environment/${path}`, {
      method,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(method === 'POST' ? { body: typeof body === 'string' ? body : JSON.stringify(body ?? {}) } : {}),
    });
    const text = await response.text();
    return { status: response.status, answer: text === '' ? {} : JSON.parse(text) };
  }

  async register(id = 'a', token = 'machine', key = someKey()): Promise<Record<string, string>> {
    const body = { security_profile: 'noise_hybrid_ik_v1', executor_public_key: key };
    return (await this.call(`${id}/register`, { token, body })).answer;
  }

  async connect(id = 'a', token = 'client', key = someKey()): Promise<Record<string, string>> {
    return (await this.call(`${id}/connect`, { token, body: { harness_public_key: key } })).answer;
  }

  /** A machine that is connected. */
  async machine(
    id = 'a',
    token = 'machine',
  ): Promise<{ line: TestLine; registration: Record<string, string> }> {
    const registration = await this.register(id, token);
    return { line: await TestLine.open(registration['url'] ?? ''), registration };
  }

  /** A client that is connected, and has claimed a stream if one is given. */
  async client(streamId?: string, token = 'client'): Promise<TestLine> {
    const line = await TestLine.open((await this.connect('a', token))['url'] ?? '');
    if (streamId !== undefined) line.send(streamId, { kind: 'resume' });
    return line;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#registry.close();
    await this.#listener.close();
  }
}

interface CallOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

/** One end of a line to the router. Collects frames as `STREAM KIND TEXT`. */
export class TestLine {
  readonly socket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #frames: string[] = [];
  #woken: (() => void) | undefined;
  bytes = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      const { streamId, body } = decodeFrame(data) ?? { streamId: '?', body: { kind: 'other' } as const };
      this.bytes += data.length;
      this.#frames.push(`${streamId} ${body.kind} ${textOf(body)}`.trim());
      this.#woken?.();
    });
    this.closed = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
    socket.on('error', () => undefined);
  }

  /** Rejects with the status if the router refuses. */
  static async open(url: string): Promise<TestLine> {
    const line = new TestLine(new WebSocket(url, { perMessageDeflate: false }));
    await new Promise<void>((resolve, reject) => {
      line.socket.once('open', resolve);
      line.socket.once('unexpected-response', (request, response) => {
        reject(new Error(`status ${response.statusCode}`));
        request.destroy();
      });
    });
    return line;
  }

  send(streamId: string, body: FrameBody): void {
    this.socket.send(encodeFrame({ streamId, body }));
  }

  say(streamId: string, text: string, seq = 0): void {
    this.send(streamId, { kind: 'data', seq, payload: Buffer.from(text) });
  }

  /** The next frame. */
  async next(): Promise<string> {
    while (this.#frames.length === 0) await new Promise<void>((resolve) => (this.#woken = resolve));
    return this.#frames.shift() ?? '';
  }

  hangUp(): void {
    this.socket.terminate();
  }
}

function textOf(body: FrameBody): string {
  if (body.kind === 'data') return Buffer.from(body.payload).toString().slice(0, 40);
  return body.kind === 'reset' ? body.reason : '';
}
