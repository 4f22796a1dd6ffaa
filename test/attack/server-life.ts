import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess, FileOptions, ProcessSpec } from '../../src/contract/index.js';
import { asIdentity } from '../harness/confined-server.js';
import { stubbornTree, type TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import type { Identity, Place } from '../host/sandbox/harness.js';

/** A file is replaced by one of these over and over: no reader may ever see anything else. */
export const CONTENTS = ['a', 'b'].map((letter) => letter.repeat(300_000));

/** How many of its works never end by themselves. They come first. */
export const ENDLESS = 4;

/** What became of one thing that was asked of a server. */
export type Fate =
  | { readonly kind: 'asItShould' }
  /** The caller was told that it is not known. */
  | { readonly kind: 'toldLost'; readonly code: string }
  | { readonly kind: 'madeUp'; readonly what: string };

/** A server at work in every way it can be, so that whatever happens to it happens in the middle of something. */
export class ServerLife implements AsyncDisposable {
  readonly server: ServerProcess;
  readonly mark: string;
  readonly #environment: RemoteEnvironment;
  readonly #place: Place;
  readonly #folder: TestFolder;
  /** Resolves once everything that never ends by itself runs. */
  readonly started: Promise<void>;
  #allStarted: () => void = () => undefined;
  #starting = ENDLESS;
  #over = false;

  private constructor(
    server: ServerProcess,
    environment: RemoteEnvironment,
    { place, folder, mark }: { place: Place; folder: TestFolder; mark: string },
  ) {
    this.server = server;
    this.#environment = environment;
    this.#place = place;
    this.#folder = folder;
    this.mark = mark;
    this.started = new Promise((resolve) => {
      this.#allStarted = resolve;
    });
  }

  static async begin(
    identity: Identity,
    { args = [], ...around }: { place: Place; folder: TestFolder; mark: string; args?: readonly string[] },
  ): Promise<ServerLife> {
    const server = await ServerProcess.start({
      args: ['--log-level', 'silent', ...args],
      wrapper: asIdentity(identity),
      env: { HOME: around.place.base },
    });
    const environment = await RemoteEnvironment.connect({
      id: 'life',
      dial: () => dialWebSocket(server.url),
      resume: true,
      giveUpAfterMs: 1_000,
    });
    return new ServerLife(server, environment, around);
  }

  /** Everything at once. Each resolves with what became of it, whatever that is. */
  work(): Promise<Fate>[] {
    const tree = stubbornTree(this.mark, this.#folder.file('ready'));
    return [
      this.#endless({ argv: ['/bin/sh', '-c', tree, this.mark] }),
      this.#endless({ argv: ['/bin/sh', '-c', 'sleep 1000; :', this.mark], tty: true }),
      this.#endless({ argv: ['/bin/sh', '-c', 'sleep 1000; :', this.mark], sandbox: this.sandbox() }),
      this.#endless({
        argv: ['/bin/sh', '-c', 'sleep 1000; :', this.mark],
        sandbox: this.sandbox({ maxProcesses: 20 }),
      }),
      this.#repeat(() => this.#say({})),
      this.#repeat(() => this.#say({ sandbox: this.sandbox() })),
      this.#repeat((round) => this.#replace(round, 'replaced', {})),
      this.#repeat((round) => this.#replace(round, 'confined', { sandbox: this.sandbox() })),
    ];
  }

  /** Runs something to its end under each policy of this life. */
  async useOnce(): Promise<void> {
    await this.#say({ sandbox: this.sandbox() });
    await this.#say({ sandbox: this.sandbox({ maxProcesses: 20 }) });
  }

  /** Asks for nothing more. */
  stopAsking(): void {
    this.#over = true;
  }

  /** The workspace may be written, and three names in it are kept free. */
  sandbox(more: { maxProcesses?: number } = {}): NonNullable<ProcessSpec['sandbox']> {
    const special = (kind: 'root' | 'project_roots', access: 'read' | 'write') =>
      ({ path: { type: 'special', value: { kind } }, access }) as const;
    const uri = pathToFileURL(this.#place.workspace).href;
    return {
      permissions: {
        type: 'managed',
        file_system: {
          type: 'restricted',
          entries: [special('root', 'read'), special('project_roots', 'write')],
        },
        network: 'restricted',
      },
      cwd: uri,
      workspaceRoots: [uri],
      ...more,
    };
  }

  /** Something that never ends by itself: an exit of it is made up. */
  async #endless(spec: ProcessSpec): Promise<Fate> {
    return await fateOf(async () => {
      const child = await this.#start(spec).finally(() => this.#oneStarted());
      const end = await child.wait();
      if (end.kind === 'contactLost') throw end.error;
      // Killed by us, at the very end.
      if (end.kind === 'signalled' || end.exitCode > 128) return;
      throw new MadeUp(JSON.stringify(end));
    });
  }

  #oneStarted(): void {
    this.#starting -= 1;
    if (this.#starting === 0) this.#allStarted();
  }

  /** One thing after the other, until something is lost or nothing more is asked. */
  async #repeat(once: (round: number) => Promise<void>): Promise<Fate> {
    for (let round = 0; !this.#over; round += 1) {
      const fate = await fateOf(() => once(round));
      if (fate.kind !== 'asItShould') return fate;
    }
    return { kind: 'asItShould' };
  }

  async #say(spec: Partial<ProcessSpec>): Promise<void> {
    const child = await this.#start({
      ...spec,
      argv: ['/bin/sh', '-c', 'echo one; echo two; exit 7', this.mark],
    });
    const [text, end] = await Promise.all([child.text(), child.wait()]);
    if (end.kind === 'contactLost') throw end.error;
    if (end.kind !== 'exited' || end.exitCode !== 7 || text !== 'one\ntwo\n')
      throw new MadeUp(JSON.stringify({ end, text }));
  }

  async #replace(round: number, name: string, options: Pick<FileOptions, 'sandbox'>): Promise<void> {
    const path = join(this.#place.workspace, name);
    await this.#environment.files.writeFile(path, CONTENTS[round % 2] ?? '', { atomic: true, ...options });
  }

  #start(spec: ProcessSpec): Promise<ExecProcess> {
    return this.#environment.start({ cwd: '/', env: { PATH: '/usr/bin:/bin' }, ...spec });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    await this.#environment.close();
    await this.server.stop('SIGTERM');
  }
}

/** A result that cannot be true. */
class MadeUp extends Error {}

async function fateOf(action: () => Promise<void>): Promise<Fate> {
  try {
    await action();
    return { kind: 'asItShould' };
  } catch (error) {
    if (error instanceof MadeUp) return { kind: 'madeUp', what: error.message };
    const { code } = error as { code?: unknown };
    // Whoever is told without a code cannot tell it from anything else.
    if (typeof code !== 'string') return { kind: 'madeUp', what: String(error) };
    return { kind: 'toldLost', code };
  }
}
