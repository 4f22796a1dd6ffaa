// Needs: bwrap
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ChangesUpdate, Environment } from '../../src/contract/index.js';
import { sh } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';
import { holdingPolicy } from '../host/changes/harness.js';
import type { OpenEnvironment } from './process.contract.js';

let lastSet = 0;

/** A directory, and a set of its changes that nobody else uses. */
class Workspace implements Disposable {
  readonly #folder = new TestFolder();
  readonly id = `contract-${process.pid}-${(lastSet += 1)}`;
  readonly sandbox = holdingPolicy([this.#folder.path], this.id);

  get path(): string {
    return this.#folder.path;
  }

  file(name: string): string {
    return this.#folder.file(name);
  }

  async run(env: Environment, script: string, more: object = {}): Promise<string> {
    const result = await env.run(sh(script), { cwd: this.path, sandbox: { ...this.sandbox, ...more } });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    return result.stdout;
  }

  [Symbol.dispose](): void {
    this.#folder[Symbol.dispose]();
  }
}

const none = { created: 0, modified: 0, deleted: 0 };

/** A set is measured every two seconds while programs run in it. */
async function untilGrown(
  env: Environment,
  space: Workspace,
  until: (created: number, running: number) => Promise<void>,
): Promise<void> {
  const child = await env.start({
    argv: sh('echo 3 > three; read -r line'),
    cwd: space.path,
    sandbox: space.sandbox,
    pipeStdin: true,
  });
  await until(3, 1);
  await child.closeStdin();
  await child.wait();
  await until(3, 0);
}

/** What an environment holds of what its programs change. `grows`: whether to wait for it while programs run, too. */
export function changesContract(
  name: string,
  open: OpenEnvironment,
  { grows = false }: { grows?: boolean } = {},
): void {
  describe(`${name}: held changes`, () => {
    test('are listed by kind, with sizes, and leave the files as they are', async () => {
      using space = new Workspace();
      for (const each of ['kept', 'changed', 'removed', 'mode', 'typed'])
        writeFileSync(space.file(each), each);
      symlinkSync('kept', space.file('link'));
      await using env = await open();
      await space.run(
        env,
        'echo after > changed; rm removed; chmod 600 mode; ln -sfn changed link; rm typed; mkdir typed; echo new > made',
      );
      const { changes, counts, cursor } = await env.changes(space.id).list();
      const row = (
        path: string,
        kind: string,
        type: string,
        size: number | null,
        baseSize: number | null,
      ) => ({
        path: space.file(path),
        kind,
        type,
        size,
        baseSize,
        conflict: false,
      });
      expect(changes).toEqual([
        row('changed', 'modified', 'file', 6, 7),
        row('link', 'linkChanged', 'symlink', null, null),
        row('made', 'created', 'file', 4, null),
        row('mode', 'attributesChanged', 'file', 4, 4),
        row('removed', 'deleted', 'file', null, 7),
        row('typed', 'typeChanged', 'directory', null, 5),
      ]);
      expect(counts).toEqual({ created: 1, modified: 4, deleted: 1 });
      expect(cursor).toBeNull();
      expect(readFileSync(space.file('changed'), 'utf8')).toBe('changed');
      expect(readdirSync(space.path).toSorted()).toEqual(
        ['changed', 'kept', 'link', 'mode', 'removed', 'typed'].toSorted(),
      );
    });

    test('come in pages, and as a pattern says', async () => {
      using space = new Workspace();
      await using env = await open();
      await space.run(env, 'mkdir src; for i in 1 2 3 4 5; do echo $i > src/$i.ts; echo $i > $i.md; done');
      const set = env.changes(space.id);
      const found: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await set.list({ limit: 4, cursor });
        expect(page.counts).toEqual({ ...none, created: 11 });
        expect(page.changes.length).toBeLessThanOrEqual(4);
        found.push(...page.changes.map(({ path }) => path));
        ({ cursor } = page);
      } while (cursor !== null);
      expect(found).toEqual((await set.list()).changes.map(({ path }) => path));
      expect(found).toHaveLength(11);
      const matching = await set.list({ glob: '*.ts', limit: 2 });
      expect(matching.changes.map(({ path }) => path)).toEqual(
        ['1', '2'].map((each) => space.file(`src/${each}.ts`)),
      );
      expect(matching.counts).toEqual({ ...none, created: 5 });
      expect((await set.list({ glob: space.file('*.md') })).counts.created).toBe(5);
      expect((await set.list({ glob: 'nothing' })).changes).toEqual([]);
      await expect(set.list({ cursor: 'x' })).rejects.toMatchObject({ code: 'invalidParams' });
    });

    test('can be read on both sides, and shown as patches, page by page', async () => {
      using space = new Workspace();
      writeFileSync(space.file('text'), 'one\ntwo\n');
      writeFileSync(space.file('untouched'), 'as it is');
      await using env = await open();
      await space.run(env, "sed -i s/two/2/ text; printf '\\0' > binary; echo n > new");
      const set = env.changes(space.id);
      const read = async (path: string, side: 'held' | 'base', more = {}): Promise<string> =>
        Buffer.from((await set.read(space.file(path), { side, ...more })).bytes).toString();
      expect(await read('text', 'held')).toBe('one\n2\n');
      expect(await read('text', 'base')).toBe('one\ntwo\n');
      expect(await read('untouched', 'held')).toBe('as it is');
      expect(await read('text', 'held', { offset: 4, maxBytes: 1 })).toBe('2');
      await expect(read('new', 'base')).rejects.toMatchObject({ code: 'notFound' });
      await expect(read('../elsewhere', 'held')).rejects.toMatchObject({ code: 'invalidPath' });
      const first = await set.diff({ maxBytes: 1 });
      expect(first.diffs.map(({ path, omitted }) => [path, omitted])).toEqual([
        [space.file('binary'), 'tooLarge'],
      ]);
      const rest = await set.diff({ cursor: first.cursor });
      expect(rest.cursor).toBeNull();
      expect(rest.diffs.map(({ path }) => path)).toEqual([space.file('new'), space.file('text')]);
      expect(rest.diffs[1]?.text).toContain('\n one\n-two\n+2\n');
      const [binary] = (await set.diff({ paths: [space.file('binary')] })).diffs;
      expect(binary).toMatchObject({ kind: 'created', omitted: 'binary' });
    });

    test('of several commands at once and of file operations build on each other', async () => {
      using space = new Workspace();
      await using env = await open();
      const { sandbox } = space;
      await Promise.all([1, 2, 3, 4].map((each) => space.run(env, `echo ${each} > f${each}`)));
      await env.files.writeFile(space.file('written'), 'by us\n', { sandbox });
      expect(await space.run(env, 'cat f* written')).toBe('1\n2\n3\n4\nby us\n');
      expect(Buffer.from(await env.files.readFile(space.file('f1'), { sandbox })).toString()).toBe('1\n');
      await env.files.remove(space.file('f2'), { sandbox });
      expect((await env.changes(space.id).list()).counts).toEqual({ ...none, created: 4 });
      expect(readdirSync(space.path)).toEqual([]);
    });

    test('are applied, all or some of them, once', async () => {
      using space = new Workspace();
      writeFileSync(space.file('old'), 'old');
      await using env = await open();
      await space.run(env, 'rm old; mkdir -p a/b; echo 1 > a/b/one; echo 2 > a/two; echo 3 > three');
      const set = env.changes(space.id);
      expect(await set.apply({ paths: [space.file('a/b')] })).toEqual({
        applied: { ...none, created: 3 },
        conflicts: [],
      });
      expect(readdirSync(space.path, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual([
        'a',
        'a/b',
        'a/b/one',
        'old',
      ]);
      expect(await set.apply()).toEqual({ applied: { created: 2, modified: 0, deleted: 1 }, conflicts: [] });
      expect(readdirSync(space.path).toSorted()).toEqual(['a', 'three']);
      expect(await set.apply()).toEqual({ applied: none, conflicts: [] });
      await expect(set.apply({ paths: ['/etc'] })).rejects.toMatchObject({ code: 'invalidPath' });
    });

    test('whose base somebody else changed are conflicts', async () => {
      using space = new Workspace();
      for (const each of ['mine', 'free']) writeFileSync(space.file(each), 'before');
      await using env = await open();
      await space.run(env, 'echo held > mine; echo held > free');
      const set = env.changes(space.id);
      await set.list();
      writeFileSync(space.file('mine'), 'changed meanwhile');
      expect((await set.list({ glob: 'mine' })).changes).toMatchObject([{ conflict: true }]);
      const refused = await set.apply();
      expect(refused.applied).toEqual(none);
      expect(refused.conflicts).toMatchObject([{ path: space.file('mine'), conflict: true }]);
      expect(readFileSync(space.file('free'), 'utf8')).toBe('before');
      expect((await set.apply({ onConflict: 'skip' })).applied).toEqual({ ...none, modified: 1 });
      expect(readFileSync(space.file('mine'), 'utf8')).toBe('changed meanwhile');
      expect((await set.apply({ onConflict: 'overwrite' })).conflicts).toEqual([]);
      expect(readFileSync(space.file('mine'), 'utf8')).toBe('held\n');
    });

    test('end with their environment, or stay until they are discarded', async () => {
      using space = new Workspace();
      const kept = { changesId: `${space.id}-kept`, changesLease: 'kept' as const };
      {
        await using env = await open();
        await space.run(env, 'echo 1 > short');
        await space.run(env, 'echo 2 > long', kept);
        const sets = await env.changeSets();
        const own = sets.filter(({ changesId }) => changesId.startsWith(space.id));
        expect(own).toMatchObject([
          { changesId: space.id, lease: 'session', roots: [space.path], running: 0 },
          { changesId: kept.changesId, lease: 'kept', roots: [space.path], running: 0 },
        ]);
        // The session of a test ends without waiting for its lease.
        await env.changes(space.id).discard();
        await expect(env.changes(space.id).list()).rejects.toMatchObject({ code: 'changesNotFound' });
      }
      await using env = await open();
      await expect(env.changes(space.id).list()).rejects.toMatchObject({ code: 'changesNotFound' });
      expect((await env.changes(kept.changesId).list()).counts).toEqual({ ...none, created: 1 });
      expect(await space.run(env, 'cat long', kept)).toBe('2\n');
      await env.changes(kept.changesId).discard();
      const left = (await env.changeSets()).filter(({ changesId }) => changesId.startsWith(space.id));
      expect(left).toEqual([]);
      expect(existsSync(space.file('long'))).toBe(false);
    });

    test('are reported when a program ends and when a file is written', async () => {
      using space = new Workspace();
      await using env = await open();
      const updates: ChangesUpdate[] = [];
      let wake = (): void => {};
      const stop = env.watchChanges((update) => {
        updates.push(update);
        wake();
      });
      const until = async (created: number, running: number): Promise<void> => {
        while (!updates.some(({ counts, ...each }) => counts.created === created && each.running === running))
          await new Promise<void>((resolve) => (wake = resolve));
      };
      await space.run(env, 'echo 1 > one');
      await until(1, 0);
      await env.files.writeFile(space.file('two'), '2', { sandbox: space.sandbox });
      await until(2, 0);
      if (grows) await untilGrown(env, space, until);
      expect(new Set(updates.map(({ changesId }) => changesId))).toEqual(new Set([space.id]));
      stop();
      const { length } = updates;
      await space.run(env, 'echo 4 > four');
      await env.changes(space.id).list();
      expect(updates).toHaveLength(length);
    });

    test('cannot be applied or discarded while a program runs, and ids are checked', async () => {
      using space = new Workspace();
      await using env = await open();
      const child = await env.start({
        argv: sh('echo 1 > one; echo ready; read -r line'),
        cwd: space.path,
        sandbox: space.sandbox,
        pipeStdin: true,
      });
      expect(child.changesId).toBe(space.id);
      expect((await child.lines().next()).value).toBe('ready');
      const set = env.changes(space.id);
      await expect(set.apply()).rejects.toMatchObject({ code: 'changesInUse' });
      await expect(set.discard()).rejects.toMatchObject({ code: 'changesInUse' });
      expect((await set.list()).counts.created).toBe(1);
      await child.terminate();
      await child.wait();
      await set.discard();
      for (const changesId of ['../up', 'a/b', '', '.hidden', 'x'.repeat(65)]) {
        const sandbox = { ...space.sandbox, changesId };
        await expect(env.run(['/bin/true'], { cwd: space.path, sandbox })).rejects.toMatchObject({
          code: 'invalidParams',
        });
        await expect(env.changes(changesId).list()).rejects.toMatchObject({ code: 'changesNotFound' });
      }
    });
  });
}
