import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { bin } from './server-process.js';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The built command line in a process of its own, away from the configuration of whoever runs the tests. */
export class CommandLine {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  readonly #closed: Promise<unknown>;
  #heard = (): void => undefined;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [bin, ...args], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        EXECWIRE_HOME: '/nonexistent',
        EXECWIRE_SERVER_URL: '',
        NODE_EXTRA_CA_CERTS: '',
        ...env,
      },
    });
    this.#closed = once(this.child, 'close');
    this.child.stdin.on('error', () => undefined);
    this.child.stdout.on('data', (data: Buffer) => {
      this.#stdout.push(data);
      this.#heard();
    });
    this.child.stderr.on('data', (data: Buffer) => this.#stderr.push(data));
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#stdout);
  }

  /** Resolves once stdout holds a text. */
  async says(text: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#heard = () => {
        if (this.bytes.includes(text)) resolve();
      };
      this.#heard();
    });
  }

  async result(): Promise<CommandResult> {
    await this.#closed;
    return {
      code: this.child.exitCode,
      stdout: this.bytes.toString(),
      stderr: Buffer.concat(this.#stderr).toString(),
    };
  }
}

/** Runs a command line to its end. */
export async function execwire(
  args: readonly string[],
  options: { input?: string | Buffer; env?: Readonly<Record<string, string>> } = {},
): Promise<CommandResult> {
  const command = new CommandLine(args, options.env);
  command.child.stdin.end(options.input ?? '');
  return await command.result();
}
