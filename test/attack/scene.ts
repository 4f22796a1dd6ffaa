import { chownSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sh } from '../../testkit/wire-client.mjs';
import type { ConfinedServer } from '../harness/confined-server.js';
import { type Identity, Place } from '../host/sandbox/harness.js';

/** What a program said after it was ready, and how it ended. */
export interface Ending {
  readonly said: string[];
  readonly exit: Record<string, unknown>;
}

let scenes = 0;

/**
 * A workspace of its own on a server that others use at the same time: one program in it, and somebody outside who changes
 * the disk meanwhile, as the user the sandbox belongs to.
 */
export class Scene implements Disposable {
  readonly #server: ConfinedServer;
  readonly #place: Place;
  readonly #uid: number | undefined;
  readonly #processId = `scene${(scenes += 1)}`;

  constructor(server: ConfinedServer, identity: Identity) {
    this.#server = server;
    this.#place = new Place(identity);
    this.#uid = identity.uid;
  }

  get workspace(): string {
    return this.#place.workspace;
  }

  path(name: string): string {
    return join(this.workspace, name);
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text);
    this.#own(name);
  }

  /** As editors do. */
  replace(name: string, text: string): void {
    this.write(`${name}.new`, text);
    renameSync(this.path(`${name}.new`), this.path(name));
  }

  /** As `git init` does: what is there is filled. */
  make(...names: string[]): void {
    for (const name of names) {
      mkdirSync(this.path(name), { recursive: true });
      this.#own(name);
    }
  }

  remove(name: string): void {
    rmSync(this.path(name), { recursive: true });
  }

  /** Starts a script, and changes the disk once it runs. */
  async attack({
    before = '',
    script,
    entries,
    change,
  }: {
    before?: string;
    script: string;
    entries?: object[];
    change: () => void;
  }): Promise<Ending> {
    const whole = `${before}echo ready; until [ -e go ]; do sleep 0.01; done; ${script}`;
    return await this.run(sh(whole), { entries, change });
  }

  /** Starts a program, changes the disk once it says that it is ready, and then makes `go` for it. */
  async run(
    argv: string[],
    { entries = [], change }: { entries?: object[] | undefined; change: () => void },
  ): Promise<Ending> {
    const { client } = this.#server;
    const id = this.#processId;
    const cwd = pathToFileURL(this.workspace).href;
    const sandbox = this.#server.sandbox({ cwd, workspaceRoots: [cwd] }, entries);
    await client.call('process/start', this.#server.params(id, argv, { cwd, sandbox }));
    await client.until(() => client.output(id).toString() === 'ready\n');
    change();
    this.write('go', '');
    const events = await client.closedEvents(id);
    const exit = events.find(({ method }) => method === 'process/exited')?.params ?? {};
    return { said: client.output(id).toString().trim().split('\n').slice(1), exit };
  }

  #own(name: string): void {
    if (this.#uid !== undefined) chownSync(this.path(name), this.#uid, this.#uid);
  }

  [Symbol.dispose](): void {
    this.#place[Symbol.dispose]();
  }
}
