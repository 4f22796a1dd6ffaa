import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { asIdentity } from '../../harness/confined-server.js';
import { type Identity, Place } from '../../host/sandbox/harness.js';
import { slugOf, type Theme } from './escape.js';
import { look } from './look.js';

export const PYTHON = '/usr/bin/python3';
const hostProgram = fileURLToPath(new URL('host.py', import.meta.url));

/** What no attempt may change in a root of its own. */
const GUARDED = ['.git', '.agents', '.codex'];

/** Removes everything in a directory but what is to be kept. */
function clear(directory: string, kept: ReadonlySet<string>): void {
  for (const name of readdirSync(directory))
    if (!kept.has(name)) rmSync(join(directory, name), { recursive: true, force: true });
}

/** Somebody at a listener of the host, and what it said. */
interface Visit {
  readonly visitor: string;
  readonly text: string;
}

/** Everything an attempt may go for. It all belongs to the attacker's own user: only the sandbox stands in the way. */
export class Site implements AsyncDisposable {
  readonly identity: Identity;
  readonly place: Place;
  /** What no output may contain. */
  readonly secret = `secret-${process.pid}-${Math.random().toString(36).slice(2)}`;
  /** Who reached a listener of the host. */
  readonly visitors: Visit[] = [];
  readonly victims = new Map<string, ChildProcess>();
  #host: ChildProcess | undefined;
  #names: Record<string, unknown> = {};
  #settled: (() => void) | undefined;
  #before = new Map<string, string>();

  constructor(identity: Identity, parent?: string) {
    this.identity = identity;
    this.place = new Place(identity, parent);
  }

  /** A directory that every policy hides. */
  get secrets(): string {
    return join(this.place.base, 'secrets');
  }

  /** Opens what the host has to lose. */
  async open(): Promise<void> {
    this.#directory(this.secrets);
    this.#file(join(this.secrets, 'secret'), this.secret);
    // Whoever runs it becomes root, unless somebody sees to it.
    copyFileSync('/usr/bin/id', join(this.place.base, 'id'));
    chmodSync(join(this.place.base, 'id'), 0o4755);
    const home = this.#directory(join(this.place.base, 'host'));
    const [program, ...args] = [...asIdentity(this.identity), PYTHON, '-I', hostProgram, home, this.secret];
    const host = spawn(program, args, { cwd: home, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#host = host;
    const lines = createInterface({ input: host.stdout });
    const [first] = (await once(lines, 'line')) as [string];
    this.#names = JSON.parse(first) as Record<string, unknown>;
    lines.on('line', (line) => {
      const told = JSON.parse(line) as Visit | { settled: true };
      if ('settled' in told) this.#settled?.();
      else this.visitors.push(told);
    });
  }

  /** Resolves once everybody who came by now is among the visitors. */
  async settled(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#settled = resolve;
      this.#host?.stdin?.write('?');
    });
  }

  get isRoot(): boolean {
    return (this.identity.uid ?? process.getuid?.()) === 0;
  }

  /** The number of a System V object that an attempt leaves behind. */
  get leftKey(): number {
    return 0x4000_0000 + Number(this.#names['hostPid']);
  }

  /** Names every attempt knows. */
  get names(): Record<string, unknown> {
    const { base, workspace, outside } = this.place;
    const namespaces = Object.fromEntries(
      ['pid', 'mnt', 'ipc', 'uts', 'net'].map((name) => [name, readlinkSync(`/proc/self/ns/${name}`)]),
    );
    const hostAddresses = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal)
      .map(({ address }) => address);
    const places = {
      base,
      workspaceBase: workspace,
      outsideBase: outside,
      secretFile: join(this.secrets, 'secret'),
      suidProgram: join(base, 'id'),
    };
    return {
      ...this.#names,
      ...places,
      namespaces,
      hostAddresses,
      secret: this.secret,
      leftKey: this.leftKey,
      foreign: !this.isRoot,
    };
  }

  outside(slug: string): string {
    return join(this.place.outside, slug);
  }

  root(slug: string): string {
    return join(this.place.workspace, slug);
  }

  /** Lays everything out for the attempts of a theme, as if nobody had been here. What still is as it was may stay. */
  layOut({ escapes, ownRoots }: Theme): void {
    const own = ownRoots === true;
    this.visitors.length = 0;
    const slugs = escapes.map(({ name }) => slugOf(name));
    const asBefore = new Set(slugs.filter((slug) => this.#before.has(slug) && !this.changed(slug, own)));
    const kept = own ? new Set([...asBefore].filter((slug) => this.#emptiesRoot(slug))) : asBefore;
    clear(this.place.outside, kept);
    clear(this.place.workspace, own ? kept : new Set());
    for (const { name, victim } of escapes) {
      const slug = slugOf(name);
      if (!kept.has(slug)) this.#layOutOutside(slug);
      if (!own || !kept.has(slug)) this.#layOutRoot(slug, own);
      if (victim) this.#placeVictim(slug);
    }
    this.#before = new Map(slugs.map((slug) => [slug, this.#picture(slug, own)]));
  }

  /** Leaves in a root what was there at first. False if the root itself is not what it was: it may lead anywhere. */
  #emptiesRoot(slug: string): boolean {
    const root = this.root(slug);
    const found = lstatSync(root, { throwIfNoEntry: false });
    const owner = this.identity.uid ?? process.getuid?.();
    if (!found?.isDirectory() || (found.mode & 0o7777) !== 0o777 || found.uid !== owner) return false;
    clear(root, new Set(['.git', '.agents']));
    return true;
  }

  #layOutOutside(slug: string): void {
    const outside = this.#directory(this.outside(slug));
    this.#file(join(outside, 'kept'), 'original');
    this.#directory(join(outside, 'empty'));
    this.#file(join(outside, 'hook'), '#!/bin/sh\n');
  }

  #layOutRoot(slug: string, ownRoots: boolean): void {
    const root = this.#directory(this.root(slug));
    if (ownRoots) this.#layOutProtected(root);
  }

  #placeVictim(slug: string): void {
    const [program, ...args] = [...asIdentity(this.identity), '/bin/sleep', '1000'];
    this.victims.set(slug, spawn(program, args, { stdio: 'ignore', detached: true }));
  }

  /** A repository with a hook, one of the other names, and the third missing. */
  #layOutProtected(root: string): void {
    this.#directory(join(root, '.git'));
    for (const name of ['hooks', 'objects', 'refs', 'modules', 'info'])
      this.#directory(join(root, '.git', name));
    this.#file(join(root, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    this.#file(join(root, '.git', 'config'), '[core]\n\trepositoryformatversion = 0\n');
    this.#file(join(root, '.git', 'hooks', 'pre-commit'), '#!/bin/sh\n');
    this.#directory(join(root, '.agents'));
    this.#file(join(root, '.agents', 'rules'), 'original');
  }

  #directory(path: string): string {
    mkdirSync(path, { recursive: true });
    this.#own(path, 0o777);
    return path;
  }

  #file(path: string, text: string): void {
    writeFileSync(path, text);
    this.#own(path, 0o666);
  }

  #own(path: string, mode: number): void {
    const { uid } = this.identity;
    if (uid !== undefined) chownSync(path, uid, uid);
    chmodSync(path, mode);
  }

  victimOf(slug: string): ChildProcess {
    const victim = this.victims.get(slug);
    if (victim === undefined) throw new Error(`${slug} has no victim`);
    return victim;
  }

  /** Whether anything that belongs to an attempt's outside is not as it was. */
  changed(slug: string, ownRoots: boolean): boolean {
    return this.#picture(slug, ownRoots) !== this.#before.get(slug);
  }

  #picture(slug: string, ownRoots: boolean): string {
    const guarded = ownRoots ? GUARDED.map((name) => join(this.root(slug), name)) : [];
    return [this.outside(slug), ...guarded].flatMap((path) => look(path)).join('\n');
  }

  /** Ends the processes that were there to be attacked. */
  endVictims(): void {
    for (const victim of this.victims.values()) victim.kill('SIGKILL');
    this.victims.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endVictims();
    if (this.#host && this.#host.exitCode === null) {
      const exit = once(this.#host, 'exit');
      this.#host.stdin?.end();
      await exit;
    }
    this.place[Symbol.dispose]();
  }
}
