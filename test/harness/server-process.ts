import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Wire, WireClient } from './wire-client.js';

/** The command users run, as built. */
export const bin = fileURLToPath(new URL('../../bin/execwire.js', import.meta.url));

/** The built server in a process of its own, listening on a port of its choice. */
export class ServerProcess implements AsyncDisposable {
  readonly url: string;
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  #stderr = '';
  #stopping = false;

  private constructor(child: ChildProcessByStdio<null, Readable, Readable>, url: string) {
    this.child = child;
    this.url = url;
    child.stderr.on('data', (data: Buffer) => {
      this.#stderr += data.toString();
    });
    child.on('exit', (code, signal) => {
      // A server that goes by itself is a bug, whichever test happens to notice.
      if (!this.#stopping) console.error(`the server ended by itself: ${code ?? signal}\n${this.#stderr}`);
    });
  }

  static async start(
    options: {
      args?: string[];
      env?: Record<string, string>;
      wrapper?: string[];
      cwd?: string;
      /** Default: as built. */
      program?: string;
    } = {},
  ): Promise<ServerProcess> {
    // A wrapper must become the server, as `exec` does: its pid is taken for the server's.
    const { wrapper = [], program = bin, args = [] } = options;
    const argv = [...wrapper, process.execPath, program, 'serve', ...args];
    const child = spawn(argv[0] ?? '', argv.slice(1), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
    });
    const [line] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      once(child, 'exit').then(() => Promise.reject(new Error('the server did not start'))),
    ])) as [string];
    return new ServerProcess(child, line);
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Ends the server and resolves to its exit code. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#stopping = true;
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exit = once(this.child, 'exit');
      this.child.kill(signal);
      await exit;
    }
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGTERM');
  }
}

/** The built server on stdio, and a client at its other end. */
export class StdioServer implements AsyncDisposable {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  readonly client: WireClient;
  /** What the client speaks over, for those who want to listen themselves. */
  readonly wire: Wire;
  readonly exit: Promise<unknown[]>;

  constructor(options: { args?: string[]; env?: Record<string, string>; cwd?: string } = {}) {
    this.child = spawn(process.execPath, [bin, 'serve', '--listen', 'stdio', ...(options.args ?? [])], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, ...options.env },
      cwd: options.cwd,
    });
    this.exit = once(this.child, 'exit');
    this.child.stdin.on('error', () => undefined);
    const lines = createInterface({ input: this.child.stdout });
    this.wire = {
      send: (text) => this.child.stdin.write(`${text}\n`),
      onText: (listener) => lines.on('line', listener),
      onClose: (listener) => lines.on('close', () => listener({})),
      close: () => this.child.stdin.end(),
    };
    this.client = new WireClient(this.wire);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.stdin.end();
    await this.exit;
  }
}
