import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { signalOne } from '../../testkit/signal-one.mjs';
import { TestFolder } from './processes.js';

/** Makes the first servers of a keeper die right after they have taken output from a program. See the fixture. */
export function diesMovingOutput(moves: string): Readonly<Record<string, string>> {
  const fixture = fileURLToPath(new URL('../fixtures/dies-moving-output.cjs', import.meta.url));
  return { NODE_OPTIONS: `--require ${fixture}`, TEST_MOVES: moves };
}

/** Makes the first server of a keeper die right after it has killed something. */
export function diesKilling(): Readonly<Record<string, string>> {
  const fixture = fileURLToPath(new URL('../fixtures/dies-killing.cjs', import.meta.url));
  return { NODE_OPTIONS: `--require ${fixture}` };
}

/** Makes the first server of a keeper die right after it has written a line with this beginning to its journal. */
export function diesNoting(line: string): Readonly<Record<string, string>> {
  const fixture = fileURLToPath(new URL('../fixtures/dies-noting.cjs', import.meta.url));
  return { NODE_OPTIONS: `--require ${fixture}`, TEST_LINE: line };
}

/** A built server with a keeper, and a directory that is gone when the test is over. */
export class DurableServer implements AsyncDisposable {
  readonly folder: TestFolder;
  readonly keeper: ServerProcess;

  private constructor(folder: TestFolder, keeper: ServerProcess) {
    this.folder = folder;
    this.keeper = keeper;
  }

  static async start(
    options: { args?: readonly string[]; env?: Readonly<Record<string, string>>; directory?: string } = {},
  ): Promise<DurableServer> {
    const folder = new TestFolder();
    const { args = [], env = {}, directory = folder.file('state') } = options;
    const quiet = ['--log-format', 'json', '--log-level', 'warn'];
    const keeper = await ServerProcess.start({ args: ['--durable', directory, ...quiet, ...args], env });
    return new DurableServer(folder, keeper);
  }

  get url(): string {
    return this.keeper.url;
  }

  /** The server that runs now; null while there is none. */
  get serverPid(): number | null {
    return serverOf(this.keeper.pid);
  }

  /** Kills the server that runs now, if there is one. */
  kill(): void {
    const pid = this.serverPid;
    if (pid !== null) signalOne(pid, 'SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _ = this.folder;
    await this.keeper.stop();
  }
}

/** The server that a keeper runs now; null while there is none. */
export function serverOf(keeperPid: number): number | null {
  const path = `/proc/${keeperPid}/task/${keeperPid}/children`;
  const children = readFileSync(path, 'utf8').trim().split(' ').map(Number);
  return children.find((pid) => commandOf(pid).includes('--durable')) ?? null;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
