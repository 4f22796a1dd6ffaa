import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { bin, codexProgram } from '../../testkit/launch.mjs';
import { AppClient } from '../../testkit/app-client.mjs';
import { dialWire, lineWire, socketWire, WireClient } from '../../testkit/wire-client.mjs';
import { cleanEnv } from '../harness/clean-env.js';
import { type RunDirectory, openRunDirectory } from '../harness/run-directory.js';
import { confinedTo } from './confinement.js';

/** The two servers, as their users start them. Both confine commands to reading unless told otherwise. */
export const programs = {
  execwire: [process.execPath, bin, 'app-server'],
  codex: [...codexProgram, 'app-server'],
} as const;

export type ServerName = keyof typeof programs;
export type TransportName = 'stdio' | 'ws';

/** In the servers' own environment: what a command inherits can be seen by it. */
const INHERITED = { INHERITED: 'yes', inherited: 'lower case', NODE_REPL_AUTH_TOKEN: 'never handed on' };

/** One app server of either kind in folders of its own, and clients for it that cannot leave these folders. */
export class AppServerProcess implements AsyncDisposable {
  readonly run: RunDirectory;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #exit: Promise<unknown>;
  #folders = 0;

  private constructor(server: ServerName, run: RunDirectory, args: readonly string[]) {
    this.run = run;
    const [program, ...rest] = [...programs[server], ...args];
    // A group of its own: the Codex command is a launcher whose real program must die with it.
    this.#child = spawn(program ?? '', rest, {
      cwd: run.workspace,
      env: { ...cleanEnv(run.serverHome), ...INHERITED },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdin.on('error', () => undefined);
    this.#exit = once(this.#child, 'exit');
  }

  /** On stdio: the process is the connection. */
  static async onStdio(server: ServerName): Promise<AppServerProcess & { readonly client: AppClient }> {
    const process = new AppServerProcess(server, await openRunDirectory(), []);
    process.#child.stderr.resume();
    const wire = confinedTo(process.run.root, lineWire(process.#child));
    return Object.assign(process, { client: new AppClient(new WireClient(wire)) });
  }

  /** On a port of its choice. The address is printed on stdout by one and on stderr by the other. */
  static async onWebSocket(server: ServerName): Promise<AppServerProcess & { readonly url: string }> {
    const process = new AppServerProcess(server, await openRunDirectory(), ['--listen', 'ws://127.0.0.1:0']);
    let said = '';
    const url = await new Promise<string>((resolve, reject) => {
      for (const stream of [process.#child.stdout, process.#child.stderr]) {
        stream.on('data', (data: Buffer) => {
          said += data.toString();
          const found = /ws:\/\/127\.0\.0\.1:\d+/.exec(said);
          if (found && said.indexOf('\n', found.index) > 0) resolve(found[0]);
        });
      }
      process.#exit.then(() => reject(new Error(`${server} did not start: ${said}`)), reject);
    });
    return Object.assign(process, { url });
  }

  /** Where the next case works. */
  nextFolder(): string {
    this.#folders += 1;
    return join(this.run.outside, `case-${this.#folders}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGTERM');
    await this.#exit;
    await this.run[Symbol.asyncDispose]();
  }
}

/** A client of a WebSocket server that cannot leave the folder. */
export async function dialConfined(
  url: string,
  root: string,
): Promise<{ client: AppClient; hangUp(): void }> {
  const { socket } = await dialWire(url);
  const wire = confinedTo(root, socketWire(socket));
  return { client: new AppClient(new WireClient(wire)), hangUp: () => socket.terminate() };
}
