import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { once } from 'node:events';
import { ExecError } from '../../protocol/errors.js';

/** Servers are not in every user's PATH. */
const SYSTEM_DIRECTORIES = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin'];
const READY_LIMIT_MS = 10_000;

/** NATS servers on this machine, which end with us. */
export class LocalCluster implements AsyncDisposable {
  readonly #children: readonly ChildProcess[];

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children;
  }

  /** Starts a server for each configuration file. Resolves when all of them accept connections. */
  static async start(
    nodes: readonly { readonly file: string; readonly url: string }[],
  ): Promise<LocalCluster> {
    const program = findServer();
    const children = nodes.map(({ file }) => spawn(program, ['-c', file], { stdio: 'ignore' }));
    const cluster = new LocalCluster(children);
    try {
      await Promise.all(nodes.map(({ url }, index) => accepting(url, children[index])));
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  /** Makes the servers reload who may connect. */
  reload(): void {
    for (const child of this.#children) child.kill('SIGHUP');
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exit = once(child, 'exit');
        child.kill('SIGTERM');
        await exit;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function findServer(): string {
  const directories = [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_DIRECTORIES];
  for (const directory of directories) {
    const path = join(directory, 'nats-server');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not there.
    }
  }
  throw new ExecError(
    'unsupported',
    'There is no nats-server on this machine. Install it with: apt-get install nats-server',
  );
}

async function accepting(url: string, child: ChildProcess | undefined): Promise<void> {
  const { hostname, port } = new URL(url);
  const deadline = Date.now() + READY_LIMIT_MS;
  while (Date.now() < deadline) {
    if (child?.exitCode !== null && child?.exitCode !== undefined)
      throw new ExecError(
        'unsupported',
        `nats-server ended with ${child.exitCode}; is ${hostname}:${port} in use?`,
      );
    const socket = connect(Number(port), hostname);
    const answered = await Promise.race([
      once(socket, 'data').then(
        () => true,
        () => false,
      ),
      once(socket, 'close').then(() => false),
    ]);
    socket.destroy();
    if (answered) return;
    await pause(20);
  }
  throw new ExecError('unsupported', `nats-server does not answer on ${hostname}:${port}.`);
}
