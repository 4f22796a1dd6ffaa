// Needs: bwrap
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import type { ChangesLimits, ChangesUpdate } from '../../src/contract/index.js';
import { ExecServer } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { sh } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';
import { holdingPolicy } from '../host/changes/harness.js';

/** A server that several clients use, and a workspace that all of them may write to. */
class Machine implements AsyncDisposable {
  readonly #folder = new TestFolder();
  readonly workspace = this.#folder.file('workspace');
  readonly sets = this.#folder.file('sets');
  readonly #server: ExecServer;

  constructor(changesLimits: Partial<ChangesLimits> = {}) {
    this.#server = new ExecServer({ changesDirectory: this.sets, changesLimits });
    mkdirSync(this.workspace);
    writeFileSync(`${this.workspace}/file`, 'before');
  }

  connectAs(principal: string | undefined): Promise<RemoteEnvironment> {
    const dial = async () => {
      const [near, far] = createMemoryChannels();
      void this.#server.accept(far, principal === undefined ? {} : { principal });
      return near;
    };
    return RemoteEnvironment.connect({ id: principal ?? 'nobody', dial, resume: true });
  }

  policy(changesId: string, changesLease: 'session' | 'kept') {
    return { ...holdingPolicy([this.workspace], changesId), changesLease };
  }

  async run(env: RemoteEnvironment, script: string, sandbox: object): Promise<string> {
    const options = { cwd: this.workspace, sandbox: sandbox as never };
    return (await env.run(sh(script), options)).stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    this.#folder[Symbol.dispose]();
  }
}

const GONE = { code: 'changesNotFound' };

test.each(['session', 'kept'] as const)(
  'a set of one client does not exist for others, whatever they know of it: %s',
  { timeout: 60_000 },
  async (lease) => {
    await using machine = new Machine();
    await using owner = await machine.connectAs('owner');
    await machine.run(owner, 'echo secret > file; echo secret > made', machine.policy('task', lease));
    const { changes } = await owner.changes('task').list();
    const known = readdirSync(machine.sets);
    for (const principal of ['other', 'owner ', 'Owner', 'local', 'client:owner', 'share:owner', undefined]) {
      await using other = await machine.connectAs(principal);
      const heard: ChangesUpdate[] = [];
      other.watchChanges((update) => heard.push(update));
      expect(await other.changeSets()).toEqual([]);
      for (const id of ['task', ...known, ...known.map((name) => `../sets/${name}`), '../task', 'TASK']) {
        const set = other.changes(id);
        await expect(set.list()).rejects.toMatchObject(GONE);
        await expect(set.diff()).rejects.toMatchObject(GONE);
        await expect(set.apply({ onConflict: 'overwrite' })).rejects.toMatchObject(GONE);
        await expect(set.discard()).rejects.toMatchObject(GONE);
        for (const side of ['held', 'base'] as const)
          await expect(set.read(`${machine.workspace}/made`, { side })).rejects.toMatchObject(GONE);
      }
      // The same id is another set, which begins with the files as they are.
      expect(await machine.run(owner, 'cat made', machine.policy('task', lease))).toBe('secret\n');
      const own = machine.policy('task', lease);
      expect(await machine.run(other, 'cat file; cat made; echo mine > made', own)).toBe('before');
      const read = other.files.readFile(`${machine.workspace}/made`, { sandbox: own });
      expect(Buffer.from(await read).toString()).toBe('mine\n');
      await other.changes('task').discard();
      expect(heard.every(({ counts }) => counts.created <= 1 && counts.modified === 0)).toBe(true);
    }
    expect((await owner.changes('task').list()).changes).toEqual(changes);
    expect(readdirSync(machine.sets)).toEqual(known);
    expect(readFileSync(`${machine.workspace}/file`, 'utf8')).toBe('before');
  },
);

test('a set of a session is not another session’s, though the client is the same', async () => {
  await using machine = new Machine();
  await using first = await machine.connectAs('owner');
  await using second = await machine.connectAs('owner');
  await machine.run(first, 'echo 1 > made', machine.policy('short', 'session'));
  await machine.run(first, 'echo 2 > made', machine.policy('long', 'kept'));
  expect((await second.changeSets()).map(({ changesId }) => changesId)).toEqual(['long']);
  await expect(second.changes('short').discard()).rejects.toMatchObject(GONE);
  // What one session runs in a set that both have, the other can neither apply nor discard.
  const child = await first.start({
    argv: sh('read -r line'),
    cwd: machine.workspace,
    sandbox: machine.policy('long', 'kept'),
    pipeStdin: true,
  });
  for (const act of ['apply', 'discard'] as const)
    await expect(second.changes('long')[act]()).rejects.toMatchObject({ code: 'changesInUse' });
  await child.closeStdin();
  await child.wait();
  await second.changes('long').discard();
});

test('paths in requests lead nowhere else', async () => {
  await using machine = new Machine();
  await using owner = await machine.connectAs('owner');
  await machine.run(owner, 'ln -s / out; mkdir d; echo 1 > d/x', machine.policy('task', 'session'));
  const set = owner.changes('task');
  const { workspace } = machine;
  for (const path of ['/', '/etc/passwd', `${workspace}/../sets`, `${workspace}/..`, `${workspace}2/file`]) {
    for (const side of ['held', 'base'] as const)
      await expect(set.read(path, { side })).rejects.toMatchObject({ code: 'invalidPath' });
  }
  for (const path of [`${workspace}/out/etc/passwd`, `${workspace}/out/../../sets`, `${workspace}/d/../../x`])
    await expect(set.read(path, { side: 'held' })).rejects.toThrow();
  for (const path of ['/etc', `${workspace}/../sets`, `${workspace}2`]) {
    await expect(set.apply({ paths: [path] })).rejects.toMatchObject({ code: 'invalidPath' });
    await expect(set.diff({ paths: [path] })).rejects.toMatchObject({ code: 'invalidPath' });
  }
  expect((await set.apply({ paths: [`${workspace}/out/etc`] })).applied.created).toBe(0);
  expect(readdirSync(workspace)).toEqual(['file']);
});

test('a client that fills one set after the other leaves room for others', { timeout: 120_000 }, async () => {
  const MIB = 1024 * 1024;
  await using machine = new Machine({ maxSetBytes: 24 * MIB, maxTotalBytes: 64 * MIB });
  await using greedy = await machine.connectAs('greedy');
  await using modest = await machine.connectAs('modest');
  const write = (env: RemoteEnvironment, changesId: string, mib: number, then: string) =>
    env.run(sh(`head -c ${mib * MIB} /dev/zero > some; ${then}`), {
      cwd: machine.workspace,
      sandbox: machine.policy(changesId, 'session'),
    });
  expect((await write(greedy, 'first', 20, 'true')).exitCode).toBe(0);
  // What it left behind is measured when it has ended.
  while (((await greedy.changeSets())[0]?.bytes ?? 0) < 20 * MIB) await new Promise(setImmediate);
  expect((await write(greedy, 'second', 20, 'sleep infinity')).changesFull).toBe(true);
  expect(await write(modest, 'first', 4, 'sleep 3')).toMatchObject({ exitCode: 0 });
});
