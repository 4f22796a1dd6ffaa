// Needs: bwrap, setpriv
import { chownSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { describe, expect, test } from 'vitest';
import { asIdentity } from '../harness/confined-server.js';
import { gone, pidsWithArgument } from '../harness/processes.js';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';
import { type Answer, call } from '../mcp/call.js';
import { type ConnectedProcess, connectStdio } from '../mcp/clients.js';
import { shareOf } from './share-of.js';
import { tally, tries } from './tally.js';

/** Not in a temporary directory: policies allow writing there. */
const PARENT = '/var/tmp';
const SECRET = 'the-secret-nobody-may-see';

/** A model with all tools, a policy it has not chosen, and a place that only the sandbox protects. */
class McpDoor implements AsyncDisposable {
  readonly place: Place;
  readonly #connected: ConnectedProcess;

  private constructor(place: Place, connected: ConnectedProcess) {
    this.place = place;
    this.#connected = connected;
  }

  static async open(identity: Identity, policy: string): Promise<McpDoor> {
    const place = new Place(identity, PARENT);
    const home = join(place.base, 'home');
    const hidden = join(place.base, 'hidden');
    for (const path of [home, hidden, join(place.workspace, '.git')]) mkdirSync(path);
    writeFileSync(join(hidden, 'secret'), SECRET);
    writeFileSync(
      join(home, 'permissions.toml'),
      `[permissions.strict]\nextends = ":workspace"\n[permissions.strict.filesystem]\n` +
        `${JSON.stringify(hidden)} = "deny"\n`,
    );
    symlinkSync(place.outside, join(place.workspace, 'link'));
    symlinkSync(join(hidden, 'secret'), join(place.workspace, 'secret-link'));
    const { uid } = identity;
    if (uid !== undefined)
      for (const path of [home, hidden, join(hidden, 'secret'), join(place.workspace, '.git')])
        chownSync(path, uid, uid);
    const connected = await connectStdio({
      wrapper: asIdentity(identity),
      args: ['--sandbox', policy],
      cwd: place.workspace,
      env: { HOME: place.base, EXECWIRE_HOME: home, TMPDIR: '' },
    });
    return new McpDoor(place, connected);
  }

  get client(): Client {
    return this.#connected.client;
  }

  get pid(): number {
    return this.#connected.pid;
  }

  get hidden(): string {
    return join(this.place.base, 'hidden');
  }

  /** What got where it must not. */
  written(): string[] {
    return [this.place.outside, join(this.place.workspace, '.git'), join(this.place.base, 'home')].flatMap(
      (path) => readdirSync(path).filter((name) => name !== 'permissions.toml'),
    );
  }

  run(cmd: string, more: object = {}): Promise<Answer> {
    return call(this.client, 'exec_command', { cmd, login: false, tty: false, ...more });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connected[Symbol.asyncDispose]();
    this.place[Symbol.dispose]();
  }
}

type Attempt = readonly [tool: string, args: object];

const OUT = 'echo out > written; echo out > "$OUT/written"; :';

/** Ways to write where the policy does not allow it. */
function writes({ place: { outside, workspace, base } }: McpDoor): Attempt[] {
  const cmd = OUT.replace('$OUT', outside);
  const shell = (more: object): Attempt => ['exec_command', { cmd, login: false, ...more }];
  const file = (path: string): Attempt => ['write_file', { path, content: 'out' }];
  return [
    shell({ workdir: outside }),
    shell({ workdir: 'link' }),
    shell({ workdir: '../outside', login: true }),
    shell({ workdir: `/proc/self/root${outside}` }),
    shell({ workdir: `${workspace}/.git` }),
    shell({ workdir: `file://${outside}` }),
    shell({ workdir: outside, sandbox: 'read-only' }),
    shell({ workdir: outside, sandbox: 'danger-full-access' }),
    shell({ workdir: outside, sandbox: null }),
    shell({ workdir: outside, env: { TMPDIR: outside }, writable: [outside] }),
    shell({ workdir: outside, shell: '/usr/bin/env -S TMPDIR=/' }),
    ['exec_command', { cmd: 'mv .git .git-old; mkdir .git; echo x > .git/written', login: false }],
    ['exec_command', { cmd: `ln ${base}/home/permissions.toml own; echo x >> own`, login: false }],
    [
      'exec_command',
      { cmd: `for f in /proc/[0-9]*/root${outside}; do echo x > $f/written; done`, login: false },
    ],
    file(join(outside, 'written')),
    file('link/written'),
    file('../outside/written'),
    file('./link/../../outside/written'),
    file(`/proc/self/root${outside}/written`),
    file(`/proc/self/cwd/../${outside}/written`),
    file(`/proc/1/root${outside}/written`),
    file(`/proc/thread-self/root${outside}/written`),
    file(`file://${outside}/written`),
    file(`file://localhost${outside}/written`),
    file(`file://${workspace}/%2e%2e/outside/written`),
    file('.git/written'),
    file(`${base}/home/written`),
    file(`${base}/home/permissions.toml/written`),
    file(`${outside}/new/folders/written`),
  ];
}

/** Ways to read what the policy denies. */
function reads({ hidden, pid }: McpDoor): Attempt[] {
  const paths = [
    `${hidden}/secret`,
    'secret-link',
    '../hidden/secret',
    `/proc/self/root${hidden}/secret`,
    `/proc/1/root${hidden}/secret`,
    `/proc/${pid}/root${hidden}/secret`,
    `//${hidden}//secret`,
    `file://${hidden}/secret`,
    `file://${hidden}/%73ecret`,
  ];
  return [
    ...paths.map((path): Attempt => ['read_file', { path }]),
    ...paths.map((path): Attempt => ['search', { path, pattern: 'secret', hidden: true }]),
    ...paths.map((path): Attempt => ['exec_command', { cmd: `cat ${path}`, login: false }]),
    ['search', { path: '..', pattern: 'the-', hidden: true }],
    ['search', { path: '.', pattern: 'the-', hidden: true, globs: ['../hidden/*', '**/secret*'] }],
    ['search', { path: hidden, pattern: '--files' }],
    ['search', { path: '.', pattern: `--file=${hidden}/secret` }],
    ['search', { path: '.', pattern: 'x', globs: [`--pre=cat`, `--ignore-file=${hidden}/secret`] }],
    ['search', { path: '.', pattern: 'the-', cursor: Buffer.from(`${hidden}/secret`).toString('base64') }],
    ['search', { path: '.', pattern: 'the-', cursor: JSON.stringify({ path: `${hidden}/secret`, line: 0 }) }],
    ['list_directory', { path: hidden }],
    [
      'exec_command',
      { cmd: `ln ${hidden}/secret mine; cat mine; cp -a ${hidden} copy; cat copy/*`, login: false },
    ],
    ['exec_command', { cmd: `cat < ${hidden}/secret; tar cf - ${hidden}`, workdir: hidden, login: false }],
  ];
}

/** With a file of its own, which tells the attempts apart. */
function named([tool, args]: Attempt, index: number): Attempt {
  const text = JSON.stringify(args).replaceAll('written', `written-${index}`);
  return [tool, JSON.parse(text) as object];
}

async function attempt(client: Client, [tool, args]: Attempt): Promise<string> {
  const { text, notes, data } = await call(client, tool, args as Record<string, unknown>);
  return JSON.stringify([text, notes, data]);
}

describe.each(identities)('a model at the tools: $name', (identity) => {
  test.each(shareOf(identity, ['read-only', 'workspace-write', 'strict']))(
    'writes nothing outside: %s',
    async (policy) => {
      await using door = await McpDoor.open(identity, policy);
      const all = writes(door).map(named);
      await Promise.all(all.map((each) => attempt(door.client, each)));
      const written = door.written();
      tally(`writes of a model under ${policy}`, { tries: all.length, successes: written.length });
      expect(written).toEqual([]);
      expect(readFileSync(join(door.place.base, 'home/permissions.toml'), 'utf8')).toMatch(/"deny"\n$/);
    },
  );

  test('reads nothing that is denied', async () => {
    await using door = await McpDoor.open(identity, 'strict');
    const all = reads(door);
    const answers = await Promise.all(all.map((each) => attempt(door.client, each)));
    const seen = all.filter((_, index) => answers[index]?.includes(SECRET));
    tally('reads of a model', { tries: all.length, successes: seen.length });
    expect(seen).toEqual([]);
  });

  test('without a policy, the same attempts succeed', async () => {
    await using door = await McpDoor.open(identity, 'danger-full-access');
    const answers = await Promise.all(reads(door).map((each) => attempt(door.client, each)));
    expect(answers.filter((answer) => answer.includes(SECRET)).length).toBeGreaterThan(20);
    await Promise.all(writes(door).map((each, index) => attempt(door.client, named(each, index))));
    expect(door.written().length).toBeGreaterThan(15);
  });

  test('a link swapped while commands and files are opened through it leads nowhere', async () => {
    const count = tries(3);
    await using door = await McpDoor.open(identity, 'workspace-write');
    await door.run('mkdir real; while :; do ln -sfn real race; ln -sfn ../outside race; done', {
      yield_time_ms: 250,
    });
    for (let number = 0; number < count; number += 1)
      await Promise.all([
        door.run('echo out > written', { workdir: 'race' }),
        call(door.client, 'write_file', { path: 'race/written', content: 'out' }),
        call(door.client, 'write_file', { path: 'race/new/written', content: 'out' }),
      ]);
    tally('links swapped under a model', { tries: 3 * count, successes: door.written().length });
    expect(door.written()).toEqual([]);
  });

  test('sees no other session, no server, no network and no files of the tools', async () => {
    await using door = await McpDoor.open(identity, 'workspace-write');
    const mark = `mark-mcp-${process.pid}-${Date.now()}`;
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const port = (listener.address() as { port: number }).port;
    let connections = 0;
    listener.on('connection', () => (connections += 1));
    await door.run(`yes ${SECRET} | head -c 3000000; sh -c 'sleep 1000; :' ${mark}`, { yield_time_ms: 250 });
    await expect.poll(() => pidsWithArgument(mark).length).toBeGreaterThan(0);
    const { text } = await door.run(
      `grep -al ${mark.slice(0, -1)}[${mark.at(-1)}] /proc/[0-9]*/cmdline | grep -v "/$$/"; ` +
        `kill -0 ${door.pid} && echo sees the server; cat /proc/${door.pid}/environ; ` +
        `for f in /proc/[0-9]*/fd/* /tmp/execwire* /var/tmp/execwire*; do ` +
        `[ -f "$f" ] && grep -ls ${SECRET.slice(0, -1)}[e] "$f"; done; ` +
        `(: < /dev/tcp/127.0.0.1/${port}) && echo connected; ls /proc/self/fd | tr '\\n' ' '`,
    );
    listener.close();
    expect(connections).toBe(0);
    expect(text).not.toMatch(/sees the server|connected|cmdline|EXECWIRE_HOME|\/fd\/|execwire-/);
    expect(text.trim().split('\n').at(-1)?.trim()).toMatch(/^0 1 2 \d+$/);
    await door[Symbol.asyncDispose]();
    await gone(mark);
  });

  test('calls cancelled at any moment leave nothing running', async () => {
    const count = tries(8);
    const mark = `mark-cancel-${process.pid}-${Date.now()}`;
    await using door = await McpDoor.open(identity, 'workspace-write');
    const cmd = `trap '' INT TERM; setsid sh -c 'sleep 1000; :' ${mark} & sh -c 'sleep 1000; :' ${mark}`;
    const cancelled = async (afterMs: number): Promise<unknown> => {
      const signal = AbortSignal.timeout(afterMs);
      const request = { name: 'exec_command', arguments: { cmd, login: false } };
      return await door.client.callTool(request, undefined, { signal }).catch(() => undefined);
    };
    for (let done = 0; done < count; done += 8) {
      await Promise.all(Array.from({ length: 8 }, (_, number) => cancelled(number * 25)));
      // Nobody answers a cancelled call. The next ones wait for its end here, or hundreds would have to end at once.
      await gone(mark);
    }
    tally('cancelled calls', { tries: count, successes: 0 });
    expect((await door.run('echo fine')).text).toContain('fine');
    await gone(mark);
  });
});
