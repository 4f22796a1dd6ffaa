import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ConfinedServer, special } from '../../harness/confined-server.js';
import { outputOf, startParams } from '../../../testkit/wire-client.mjs';
import type { Identity } from '../../host/sandbox/harness.js';
import { type Escape, type PolicyName, slugOf, type Theme } from './escape.js';
import { PYTHON, Site } from './site.js';

const attacker = fileURLToPath(new URL('attacker.py', import.meta.url));

export const policies: readonly PolicyName[] = ['readOnly', 'workspace', 'network'];

/** How an attempt went. */
export interface Outcome {
  readonly escape: Escape;
  /** What the attacker got; undefined if nothing. */
  readonly success: string | undefined;
  /** What held it back. */
  readonly held: string | undefined;
}

/** A server, the machine around it, and attempts to get out of what it starts. */
export class Proving implements AsyncDisposable {
  readonly site: Site;
  readonly server: ConfinedServer;
  #runs = 0;

  private constructor(site: Site, server: ConfinedServer) {
    this.site = site;
    this.server = server;
  }

  static async open(identity: Identity): Promise<Proving> {
    const site = new Site(identity);
    await site.open();
    const server = await ConfinedServer.start(identity, {
      place: site.place,
      env: { EXECWIRE_ATTACK_SECRET: site.secret },
    });
    return new Proving(site, server);
  }

  /** Plays all attempts of a theme under a policy; without one where it is null. */
  async play(theme: Theme, policy: PolicyName | null, { tty = false } = {}): Promise<Outcome[]> {
    const { site } = this;
    const escapes = theme.escapes.filter(
      ({ unconfined, ownTerminal }) =>
        (policy !== null || unconfined !== 'notTried') && !(tty && ownTerminal === true),
    );
    site.layOut({ ...theme, escapes });
    try {
      const said = await this.#run(theme, { policy, escapes, tty });
      await site.settled();
      return await Promise.all(
        escapes.map((escape) => this.#judge(escape, { theme, said, confined: policy !== null })),
      );
    } finally {
      site.endVictims();
    }
  }

  async #judge(
    escape: Escape,
    {
      theme,
      said,
      confined,
    }: { theme: Theme; said: ReadonlyMap<string, { won?: string; held?: string }>; confined: boolean },
  ): Promise<Outcome> {
    const slug = slugOf(escape.name);
    const { won, held } = said.get(slug) ?? { held: 'said nothing' };
    const signs = [
      ...(won === undefined ? [] : [`claims: ${won}`]),
      ...(this.site.changed(slug, theme.ownRoots === true) ? ['something outside has changed'] : []),
      ...((await escape.seen?.(this.site, slug, { confined })) ? ['seen from outside'] : []),
    ];
    return { escape, held, success: signs.length === 0 ? undefined : signs.join(', ') };
  }

  async #run(
    theme: Theme,
    { policy, escapes, tty }: { policy: PolicyName | null; escapes: readonly Escape[]; tty: boolean },
  ): Promise<Map<string, { won?: string; held?: string }>> {
    const { client, cwd } = this.server;
    this.#runs += 1;
    const id = `attack${this.#runs}`;
    const tasks = join(this.site.place.base, `${id}.json`);
    const privateMounts = policy === null && this.site.isRoot;
    const serverPorts = [Number(new URL(this.server.server.url).port)];
    const shared = { ...this.site.names, serverPorts, privateMounts };
    writeFileSync(tasks, JSON.stringify({ shared, tasks: escapes.map((each) => this.#task(each)) }));
    chmodSync(tasks, 0o644);
    const argv = [PYTHON, '-I', '-B', attacker, tasks];
    const env = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', HOME: this.site.place.base };
    const params =
      policy === null
        ? startParams(id, argv, { cwd, env })
        : startParams(id, argv, { cwd, env, tty, sandbox: this.#sandbox(theme, policy, escapes) });
    await client.call('process/start', params);
    const events = await client.closedEvents(id);
    const text = outputOf(events).toString();
    const lines = text.split('\n').filter((line) => line.startsWith('{'));
    const answers = lines.map((line) => JSON.parse(line) as { slug: string; won?: string; held?: string });
    if (answers.length !== escapes.length) throw new Error(`the attacker broke off: ${text.slice(-2000)}`);
    return new Map(answers.map((answer) => [answer.slug, answer]));
  }

  #task({ name, tries }: Escape): object {
    const slug = slugOf(name);
    const victim = this.site.victims.get(slug)?.pid;
    return { name, slug, tries, names: victim === undefined ? {} : { victim } };
  }

  #sandbox(theme: Theme, policy: PolicyName, escapes: readonly Escape[]): object {
    const { place } = this.site;
    const uri = (path: string) => pathToFileURL(path).href;
    const roots = theme.ownRoots
      ? escapes.map(({ name }) => this.site.root(slugOf(name)))
      : [place.workspace];
    const hidden = { path: { type: 'path', path: uri(join(place.base, 'secrets')) }, access: 'none' };
    const writable = policy === 'readOnly' ? [] : [special('project_roots', 'write')];
    return {
      permissions: {
        type: 'managed',
        file_system: { type: 'restricted', entries: [special('root', 'read'), ...writable, hidden] },
        network: policy === 'network' ? 'enabled' : 'restricted',
      },
      cwd: uri(place.workspace),
      workspaceRoots: roots.map(uri),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.server.stop();
    await this.site[Symbol.asyncDispose]();
  }
}
