import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Identity } from '../../host/sandbox/harness.js';
import { type Door, execServerDoor, type OpenDoor } from './door.js';
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
  readonly #door: Door;
  #runs = 0;

  private constructor(site: Site, door: Door) {
    this.site = site;
    this.#door = door;
  }

  static async open(
    identity: Identity,
    { door = execServerDoor, parent }: { door?: OpenDoor; parent?: string } = {},
  ): Promise<Proving> {
    const site = new Site(identity, parent);
    await site.open();
    return new Proving(site, await door(site));
  }

  /** Plays all attempts of a theme under a policy; without one where it is null. */
  async play(
    theme: Theme,
    policy: PolicyName | null,
    { tty = false, names = {} }: { tty?: boolean; names?: Record<string, string> } = {},
  ): Promise<Outcome[]> {
    const { site } = this;
    const escapes = theme.escapes.filter(
      ({ unconfined, ownTerminal }) =>
        (policy !== null || unconfined !== 'notTried') && !(tty && ownTerminal === true),
    );
    site.layOut({ ...theme, escapes });
    try {
      const said = await this.#run(theme, { policy, escapes, tty, names });
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
    {
      policy,
      escapes,
      tty,
      names,
    }: { policy: PolicyName | null; escapes: readonly Escape[]; tty: boolean; names: Record<string, string> },
  ): Promise<Map<string, { won?: string; held?: string }>> {
    this.#runs += 1;
    const tasks = join(this.site.place.base, `attack${this.#runs}.json`);
    const privateMounts = policy === null && this.site.isRoot;
    const shared = { ...this.site.names, ...names, serverPorts: this.#door.ports, privateMounts };
    writeFileSync(tasks, JSON.stringify({ shared, tasks: escapes.map((each) => this.#task(each)) }));
    chmodSync(tasks, 0o644);
    const text = await this.#door.run({
      argv: [PYTHON, '-I', '-B', attacker, tasks],
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', HOME: this.site.place.base },
      policy,
      tty,
      ownRoots: theme.ownRoots ? escapes.map(({ name }) => this.site.root(slugOf(name))) : undefined,
    });
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#door[Symbol.asyncDispose]();
    await this.site[Symbol.asyncDispose]();
  }
}
