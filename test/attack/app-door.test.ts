// Needs: bwrap, setpriv
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exec, type AppClient } from '../../testkit/app-client.mjs';
import { StdioApp } from '../../testkit/app-server.mjs';
import { asIdentity } from '../harness/confined-server.js';
import { type Identity, identities, Place } from '../host/sandbox/harness.js';
import { gone, pidsWithArgument } from '../harness/processes.js';
import { tally, tries } from './tally.js';

/** Not in a temporary directory: policies allow writing there. */
const PARENT = '/var/tmp';

/** An app server under a default policy, and a place that only the sandbox protects. */
class AppDoor implements AsyncDisposable {
  readonly place: Place;
  readonly client: AppClient;
  readonly #app: StdioApp;
  readonly #identity: Identity;

  private constructor(place: Place, app: StdioApp, identity: Identity) {
    this.place = place;
    this.client = app.client;
    this.#app = app;
    this.#identity = identity;
  }

  static async open(
    identity: Identity,
    { policy = 'workspace-write', env = {} }: { policy?: string; env?: Record<string, string> } = {},
  ): Promise<AppDoor> {
    const place = new Place(identity, PARENT);
    const app = new StdioApp({
      args: ['--default-sandbox', policy, '--log-level', 'silent'],
      wrapper: asIdentity(identity),
      cwd: place.workspace,
      env: { HOME: place.base, TMPDIR: '', ...env },
    });
    await app.client.initialize();
    return new AppDoor(place, app, identity);
  }

  get outside(): string {
    return this.place.outside;
  }

  inside(name: string): string {
    return join(this.place.workspace, name);
  }

  write(path: string, text: string, mode = 0o644): void {
    writeFileSync(path, text);
    this.#own(path);
    chmodSync(path, mode);
  }

  make(path: string): void {
    mkdirSync(path);
    this.#own(path);
  }

  /** What got out. */
  get written(): string[] {
    return readdirSync(this.outside);
  }

  #own(path: string): void {
    const { uid } = this.#identity;
    if (uid !== undefined) chownSync(path, uid, uid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app[Symbol.asyncDispose]();
    this.place[Symbol.dispose]();
  }
}

/** Members of a request that somebody else may have chosen than whoever chose the policy. */
const requests: Record<string, (door: AppDoor) => object> = {
  'a directory outside': ({ outside }) => ({ cwd: outside }),
  'a directory outside, by dots': () => ({ cwd: '../outside' }),
  'a directory through a link': () => ({ cwd: 'link' }),
  'TMPDIR outside': ({ outside }) => ({ env: { TMPDIR: outside } }),
  'TMPDIR at the root': () => ({ env: { TMPDIR: '/' } }),
  'TMPDIR through a link': (door) => ({ env: { TMPDIR: door.inside('link') } }),
  'TMPDIR outside, for a policy of its own': ({ outside }) => ({
    env: { TMPDIR: outside },
    sandboxPolicy: { type: 'workspaceWrite' },
  }),
  'TMPDIR outside, for a profile': ({ outside }) => ({
    env: { TMPDIR: outside },
    permissionProfile: ':workspace',
  }),
  'HOME outside': ({ outside }) => ({ env: { HOME: outside, XDG_CONFIG_HOME: outside } }),
  'programs of its own': (door) => ({ env: { PATH: `${door.inside('bin')}:/usr/bin:/bin` } }),
  'shell startup files': (door) => ({
    env: { BASH_ENV: door.inside('startup'), ENV: door.inside('startup'), SHELLOPTS: 'xtrace' },
  }),
  'options for Node': (door) => ({ env: { NODE_OPTIONS: `--require=${door.inside('startup.cjs')}` } }),
  'a terminal': () => ({ tty: true, processId: 'tty' }),
  'a root that is a link': (door) => ({
    sandboxPolicy: { type: 'workspaceWrite', writableRoots: [door.inside('link')] },
  }),
  'a root below a link': (door) => ({
    sandboxPolicy: { type: 'workspaceWrite', writableRoots: [door.inside('link/below')] },
  }),
  'a root that does not exist': (door) => ({
    sandboxPolicy: { type: 'workspaceWrite', writableRoots: [door.inside('missing/../link')] },
  }),
};

describe.each(identities)('requests to an app server: $name', (identity) => {
  test('no member of a request widens the default policy', async () => {
    await using door = await AppDoor.open(identity);
    const { client, outside } = door;
    symlinkSync(outside, door.inside('link'));
    door.make(door.inside('bin'));
    const script = `echo out >> ${outside}/written`;
    for (const name of ['bwrap', 'sh', 'env', 'setpriv', 'unshare'])
      door.write(door.inside(`bin/${name}`), `#!/bin/sh\n${script}-by-${name}\n`, 0o755);
    door.write(door.inside('startup'), `${script}-at-startup\n`);
    door.write(
      door.inside('startup.cjs'),
      `require('node:fs').appendFileSync(${JSON.stringify(join(outside, 'by-node'))}, 'x');\n`,
    );
    let successes = 0;
    for (const [name, members] of Object.entries(requests)) {
      // A policy that cannot be enforced is refused; that is as good.
      const answer = await client.ask('command/exec', {
        command: ['/bin/sh', '-c', `${script}; :`],
        ...members(door),
      });
      expect.soft({ name, written: door.written }).toEqual({ name, written: [] });
      expect.soft(answer.error?.data?.code ?? 'ran').toMatch(/^(ran|sandboxUnavailable)$/);
      successes += door.written.length > 0 ? 1 : 0;
      for (const each of door.written) rmSync(join(outside, each));
    }
    tally('requests to an app server', { tries: Object.keys(requests).length, successes });
  });

  test('the temporary directory of the server stays writable for a command that names another', async () => {
    await using door = await AppDoor.open(identity, { env: {} });
    const own = door.inside('../own');
    door.make(own);
    await using other = await AppDoor.open(identity, { env: { TMPDIR: own } });
    const env = { TMPDIR: other.outside };
    expect(await exec(other.client, `echo x > ${own}/f && cat ${own}/f`, { env })).toMatchObject({
      exitCode: 0,
      stdout: 'x\n',
    });
    expect(existsSync(join(own, 'f'))).toBe(true);
  });
});

test('a flood of requests under the same ids gets an answer each, and nothing is left', async () => {
  const count = tries(1000);
  const mark = `mark-app-flood-${process.pid}-${Date.now()}`;
  {
    await using app = new StdioApp();
    const { client } = app;
    // Too early, and about nothing.
    client.wire.send('{"method":"initialized"}');
    client.wire.send('{"method":"fs/changed","params":{}}');
    expect((await client.refusal('fs/readFile', { path: '/etc/hostname' }))[1]).toBe('Not initialized');
    await client.initialize();
    const command = ['sh', '-c', 'sleep 1000; :', mark];
    for (let number = 0; number < count; number += 1) {
      client.post('metadata', 'fs/getMetadata', { path: '/etc/hostname' });
      client.post('exec', 'command/exec', { command, processId: `p${number % 8}`, disableTimeout: true });
    }
    const answers = (id: string) => client.wire.arrivals.filter((each) => 'id' in each && each.id === id);
    // Eight run; to all others the id is taken.
    await client.wire.until(
      () => (answers('metadata').length === count && answers('exec').length === count - 8) || undefined,
    );
    expect(pidsWithArgument(mark)).toHaveLength(8);
    tally('requests under the same ids', { tries: 2 * count, successes: 0 });
  }
  await gone(mark);
});

test('a killed app server leaves nothing running, and the next one tidies up', async () => {
  const mark = `mark-app-killed-${process.pid}-${Date.now()}`;
  using place = new Place({ name: 'current user' }, PARENT);
  const app = new StdioApp({ args: ['--default-sandbox', 'workspace-write'], cwd: place.workspace });
  await app.client.initialize();
  const script = `setsid sh -c 'sleep 1000; :' ${mark} & echo here; sh -c 'sleep 1000; :' ${mark}`;
  for (const processId of ['one', 'two'])
    app.client.post(processId, 'command/exec', {
      command: ['sh', '-c', script],
      processId,
      streamStdoutStderr: true,
      ...(processId === 'two' ? { sandboxPolicy: { type: 'dangerFullAccess' } } : {}),
    });
  for (const processId of ['one', 'two']) await app.client.shows(processId, 'here');
  app.child.kill('SIGKILL');
  await app.exit;
  await gone(mark);
  {
    await using next = new StdioApp({ args: ['--default-sandbox', 'workspace-write'], cwd: place.workspace });
    await next.client.initialize();
    expect(await exec(next.client, 'true')).toMatchObject({ exitCode: 0 });
  }
  // Names that had to be blocked while programs ran.
  expect(readdirSync(place.workspace)).toEqual([]);
});
