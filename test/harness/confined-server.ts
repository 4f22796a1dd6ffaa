import { expect } from 'vitest';
import { pathToFileURL } from 'node:url';
import { type Identity, Place } from '../host/sandbox/harness.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, outputOf, startParams, type WireClient } from '../../testkit/wire-client.mjs';

export const special = (kind: string, access: string, subpath?: string): object => ({
  path: { type: 'special', value: { kind, ...(subpath ? { subpath } : {}) } },
  access,
});

/** What precedes a command to run it as that user. */
export function asIdentity({ uid }: Identity): string[] {
  return uid === undefined
    ? []
    : ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--inh-caps=-all'];
}

/** What precedes a command to run it on a machine that has another program in place of one of its own. */
export function withSystemProgram(name: string, replacement: string): string[] {
  const replace = `mount --bind "$0" "$(readlink -f /usr/bin/${name})" && exec "$@"`;
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  return ['unshare', ...asRoot, '--mount', 'sh', '-c', replace, replacement];
}

/** The same for machines that do not have them. */
export function withoutSystemPrograms(...names: string[]): string[] {
  return names.flatMap((name) => withSystemProgram(name, '/dev/null'));
}

export interface Finished {
  readonly text: string;
  readonly exit: Record<string, unknown>;
}

/** The built server, run by root or by a plain user, a connection to it, and a place only the sandbox protects. */
export class ConfinedServer implements AsyncDisposable {
  readonly place: Place;
  readonly server: ServerProcess;
  readonly client: WireClient;
  #count = 0;

  private constructor(place: Place, server: ServerProcess, client: WireClient) {
    this.place = place;
    this.server = server;
    this.client = client;
  }

  static async start(
    identity: Identity,
    {
      env = {},
      place = new Place(identity),
      wrapper = [],
      args = [],
      token,
      program,
    }: {
      env?: Record<string, string>;
      place?: Place;
      wrapper?: readonly string[];
      args?: readonly string[];
      token?: string;
      program?: string;
    } = {},
  ): Promise<ConfinedServer> {
    const home = { HOME: place.base, TMPDIR: '' };
    const server = await ServerProcess.start({
      args: [...args],
      wrapper: [...wrapper, ...asIdentity(identity)],
      env: { ...home, ...env },
      ...(program === undefined ? {} : { program }),
    });
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { client } = await dialWire(server.url, { headers });
    await client.handshake();
    return new ConfinedServer(place, server, client);
  }

  get cwd(): string {
    return pathToFileURL(this.place.workspace).href;
  }

  /** Everything readable, the workspace writable, no network; and what else a test says. */
  sandbox(more: Record<string, unknown> = {}, entries: readonly object[] = []): object {
    const all = [special('root', 'read'), special('project_roots', 'write'), ...entries];
    return {
      permissions: {
        type: 'managed',
        file_system: { type: 'restricted', entries: all },
        network: 'restricted',
      },
      cwd: this.cwd,
      workspaceRoots: [this.cwd],
      ...more,
    };
  }

  params(processId: string, argv: string[], more: Record<string, unknown> = {}): object {
    return startParams(processId, argv, { cwd: this.cwd, sandbox: this.sandbox(), ...more });
  }

  /** Runs a program under the policy and tells what became of it. */
  async run(argv: string[], more: Record<string, unknown> = {}): Promise<Finished> {
    this.#count += 1;
    const id = `run${this.#count}`;
    expect(await this.client.call('process/start', this.params(id, argv, more))).toEqual({
      processId: id,
      sandboxType: 'linuxSeccomp',
    });
    const events = await this.client.closedEvents(id);
    const exit = events.find(({ method }) => method === 'process/exited')?.params ?? {};
    return { text: outputOf(events).toString(), exit };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    this.place[Symbol.dispose]();
  }
}
