import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { bin } from './server-process.js';
import { dialWire, lineWire, type Wire, type WireAnswer, WireClient } from './wire-client.js';

export interface AppNotification {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly emittedAtMs: number;
}

/** Speaks the application protocol by hand. */
export class AppClient {
  readonly wire: WireClient;

  constructor(wire: WireClient) {
    this.wire = wire;
  }

  /** The handshake, with everything switched on unless told otherwise. */
  async initialize(capabilities: Record<string, unknown> = { experimentalApi: true }): Promise<this> {
    await this.call('initialize', { clientInfo: { name: 'test', version: '1' }, capabilities });
    this.wire.send('{"method":"initialized"}');
    return this;
  }

  ask(method: string, params?: unknown): Promise<WireAnswer> {
    return this.wire.ask(method, params);
  }

  call(method: string, params?: unknown): Promise<Record<string, unknown>> {
    return this.wire.call(method, params);
  }

  /** Code and message of a request that must fail. */
  async refusal(method: string, params?: unknown): Promise<[number, string]> {
    const { error, result } = await this.ask(method, params);
    if (!error) throw new Error(`${method} did not fail: ${JSON.stringify(result)}`);
    return [error.code, error.message];
  }

  /** Sends without waiting; the answer can be had later under the id. */
  post(id: string | number, method: string, params: unknown): void {
    this.wire.send(JSON.stringify({ id, method, params }));
  }

  notifications(method?: string): AppNotification[] {
    const all = this.wire.arrivals.filter((each) => 'method' in each) as unknown as AppNotification[];
    return method === undefined ? all : all.filter((each) => each.method === method);
  }

  /** What was streamed under an id so far. */
  streamed(id: string, stream = 'stdout'): Buffer {
    const own = this.notifications().filter(
      ({ method, params }) =>
        method.endsWith('/outputDelta') &&
        (params.processId ?? params.processHandle) === id &&
        params.stream === stream,
    );
    return Buffer.concat(own.map(({ params }) => Buffer.from(String(params.deltaBase64), 'base64')));
  }

  /** Resolves when the streamed output under an id contains this text. */
  async shows(id: string, text: string): Promise<void> {
    await this.wire.until(() => this.streamed(id).includes(text));
  }

  /** The end of a process, the `nth` under its handle. */
  async exited(handle: string, nth = 1): Promise<Record<string, unknown>> {
    return await this.wire.until(
      () =>
        this.notifications('process/exited').filter(({ params }) => params.processHandle === handle)[nth - 1]
          ?.params,
    );
  }
}

export interface OpenedApp extends AsyncDisposable {
  readonly client: AppClient;
  /** Ends the connection as the client. */
  hangUp(): void;
}

export type OpenApp = (options?: { env?: Record<string, string>; cwd?: string }) => Promise<OpenedApp>;

interface StartOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** What precedes the command, and becomes it. */
  readonly wrapper?: string[];
}

function start(args: string[], options: StartOptions): ChildProcess {
  const own = [process.execPath, bin, 'app-server', '--default-sandbox', 'danger-full-access', ...args];
  const [program = '', ...rest] = [...(options.wrapper ?? []), ...own];
  return spawn(program, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
    cwd: options.cwd,
  });
}

/** The built server at the other end of two pipes. */
export class StdioApp implements OpenedApp {
  readonly child: ChildProcess;
  readonly client: AppClient;
  /** What the client speaks over, for those who want to listen themselves. */
  readonly wire: Wire;
  readonly exit: Promise<unknown[]>;
  stderr = '';

  constructor(options: StartOptions & { args?: string[] } = {}) {
    this.child = start(options.args ?? [], options);
    this.exit = once(this.child, 'exit');
    this.child.stderr?.on('data', (data: Buffer) => {
      this.stderr += data.toString();
    });
    this.wire = wireOf(this.child);
    this.client = new AppClient(new WireClient(this.wire));
  }

  hangUp(): void {
    this.child.stdin?.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.hangUp();
    await this.exit;
  }
}

function wireOf({ stdin, stdout }: ChildProcess): Wire {
  if (!stdin || !stdout) throw new Error('the server has no pipes');
  stdin.on('error', () => undefined);
  return lineWire({ stdin, stdout });
}

/** The built server on a port of its choice. */
export class WebSocketApp implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  readonly stderr: () => string;

  private constructor(child: ChildProcess, url: string, stderr: () => string) {
    this.child = child;
    this.url = url;
    this.stderr = stderr;
  }

  static async start(options: StartOptions & { args?: string[] } = {}): Promise<WebSocketApp> {
    const args = options.args ?? ['--listen', 'ws://127.0.0.1:0'];
    const child = start(args, options);
    let stderr = '';
    child.stderr?.on('data', (data: Buffer) => {
      stderr += data.toString();
    });
    if (!child.stdout) throw new Error('the server has no stdout');
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      once(child, 'exit').then(() => Promise.reject(new Error(`the server did not start: ${stderr}`))),
    ])) as [string];
    return new WebSocketApp(child, line, () => stderr);
  }

  async connect(): Promise<OpenedApp> {
    const { client, socket } = await dialWire(this.url);
    const hangUp = (): void => socket.terminate();
    return { client: new AppClient(client), hangUp, [Symbol.asyncDispose]: async () => hangUp() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
  }
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

export function sh(script: string): string[] {
  return ['/bin/sh', '-c', script];
}

/** Runs a script with `command/exec` to its end. */
export async function exec(
  client: AppClient,
  script: string,
  more: object = {},
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  return (await client.call('command/exec', { command: sh(script), ...more })) as never;
}
