// Needs: ssh, sshd, a login shell
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Environment } from '../../src/contract/index.js';
import { openEnvironment, type OpenOptions } from '../../src/environment/index.js';
import { TestFolder } from './processes.js';
import { bin } from '../../testkit/launch.mjs';

interface SshServer {
  readonly clientArgs: readonly string[];
  stop(): Promise<void>;
}

const SERVE = 'serve --listen stdio --log-level warn';

/** The example is plain JavaScript without declarations. */
const exampleServer = new URL('../../examples/stdio-over-ssh/ssh-server.mjs', import.meta.url);

/**
 * A machine behind a real sshd on loopback, configured in an `environments.toml` of its own: `far` shares one
 * connection of ssh, `alone` makes its own each time. The home directory there is `folder`.
 */
export class SshMachine implements AsyncDisposable {
  readonly folder: TestFolder;
  readonly #server: SshServer;
  readonly #master: ChildProcess;

  private constructor(parts: { folder: TestFolder; server: SshServer; master: ChildProcess }) {
    this.folder = parts.folder;
    this.#server = parts.server;
    this.#master = parts.master;
  }

  /** `command`: what of `execwire` runs there. */
  static async start({ command = SERVE }: { command?: string } = {}): Promise<SshMachine> {
    const folder = new TestFolder();
    const { startSshServer } = (await import(exampleServer.href)) as {
      startSshServer: (folder: string) => Promise<SshServer>;
    };
    const server = await startSshServer(folder.path);
    const shared = ['-o', `ControlPath=${folder.file('master')}`];
    const master = await startMaster([...shared, ...server.clientArgs]);
    const far = [...shared, ...server.clientArgs];
    writeFileSync(
      folder.file('environments.toml'),
      `${entry('far', far, command)}${entry('alone', server.clientArgs, command)}`,
    );
    return new SshMachine({ folder, server, master });
  }

  /** What names the configuration of this machine, for `openEnvironment` and for the command line. */
  get variables(): { EXECWIRE_HOME: string } {
    return { EXECWIRE_HOME: this.folder.path };
  }

  /** The ssh client whose connection `far` uses. */
  get masterPid(): number {
    return this.#master.pid ?? -1;
  }

  async open(id: 'far' | 'alone' = 'far', options: OpenOptions = {}): Promise<Environment> {
    return await openEnvironment(id, { ...options, variables: { ...process.env, ...this.variables } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Killed from elsewhere it is gone already.
    if (this.#master.exitCode === null && this.#master.signalCode === null) {
      const gone = once(this.#master, 'exit');
      // Not politely: OpenSSH 9 polls for up to five minutes if a signal comes between its look for one and the poll.
      this.#master.kill('SIGKILL');
      await gone;
    }
    await this.#server.stop();
    this.folder[Symbol.dispose]();
  }
}

/**
 * The server is started by the user's shell there, as anybody would configure it. Which shell that is, and what it reads when
 * it starts, is up to whoever runs the tests; `greeting` stands for that.
 */
function entry(id: string, clientArgs: readonly string[], command: string): string {
  const greeting = '[ ! -e ~/greeting ] || . ~/greeting';
  const script = `${greeting}; exec '${process.execPath}' '${bin}' ${command}`;
  const args = JSON.stringify([...clientArgs, script]);
  return `[[environments]]\nid = "${id}"\nprogram = "ssh"\nargs = ${args}\n`;
}

/** One ssh client that logs in and lets the others use its connection. It listens for them before its local command. */
async function startMaster(args: readonly string[]): Promise<ChildProcess> {
  const ready = ['-o', 'PermitLocalCommand=yes', '-o', 'LocalCommand=echo ready'];
  const master = spawn('ssh', ['-M', '-N', ...ready, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  await Promise.race([
    once(master.stdout, 'data'),
    once(master, 'exit').then(([code]) => Promise.reject(new Error(`ssh ended with ${code}`))),
  ]);
  return master;
}
