// Needs: bwrap, root
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Scene } from './harness.js';

const isRoot = process.geteuid?.() === 0;

/** Mounts something, as an administrator might, until the end of the test. */
class Mounted implements Disposable {
  readonly #path: string;

  constructor(path: string, args: readonly string[]) {
    this.#path = path;
    execFileSync('mount', [...args, path]);
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.#path]);
  }
}

const TMPFS = ['-t', 'tmpfs', 'execwire-test'];

const none = { created: 0, modified: 0, deleted: 0 };

describe.skipIf(!isRoot)('what is mounted after a program has changed something', () => {
  test.each(['another disk', 'another directory'])(
    '%s in a directory that it removed stays as it is',
    async (kind) => {
      await using scene = new Scene();
      const [place, elsewhere] = [scene.file('gone/inner/mounted'), join(scene.folder, 'elsewhere')];
      mkdirSync(place, { recursive: true });
      mkdirSync(elsewhere);
      writeFileSync(scene.file('gone/file'), '');
      await scene.run('rm -r gone; echo new > made');
      const set = scene.environment.changes('task');
      await set.list();
      using _ = new Mounted(place, kind === 'another disk' ? TMPFS : ['--bind', elsewhere]);
      writeFileSync(join(place, 'precious'), 'not ours');
      const conflicts = ['gone', 'gone/inner'].map((name) => scene.file(name));
      const found = (await set.list()).changes.filter(({ conflict }) => conflict);
      expect(found.map(({ path }) => path)).toEqual(expect.arrayContaining(conflicts));
      expect((await set.apply()).applied).toEqual(none);
      const { applied, conflicts: left } = await set.apply({ onConflict: 'overwrite' });
      expect(applied).toEqual({ ...none, created: 1, deleted: 1 });
      expect(left.map(({ path }) => path)).toEqual(expect.arrayContaining(conflicts));
      expect(readFileSync(join(place, 'precious'), 'utf8')).toBe('not ours');
      expect(readdirSync(scene.workspace).toSorted()).toEqual(['gone', 'made']);
    },
  );

  test('over a directory that it changed is seen by the next program, and changes below it wait', async () => {
    await using scene = new Scene();
    mkdirSync(scene.file('data'));
    writeFileSync(scene.file('data/old'), 'below\n');
    await scene.run('echo held > data/old; echo held > data/made');
    const set = scene.environment.changes('task');
    {
      using _ = new Mounted(scene.file('data'), TMPFS);
      writeFileSync(scene.file('data/on-disk'), '');
      expect(await scene.run('ls data; echo 1 > data/new')).toBe('on-disk\n');
      const { applied, conflicts } = await set.apply({ onConflict: 'overwrite' });
      expect(applied).toEqual({ ...none, created: 1 });
      expect(conflicts.map(({ path }) => path)).toEqual(
        ['data', 'data/made', 'data/old'].map((name) => scene.file(name)),
      );
      expect(readdirSync(scene.file('data')).toSorted()).toEqual(['new', 'on-disk']);
    }
    expect(readdirSync(scene.file('data'))).toEqual(['old']);
    await set.apply({ onConflict: 'overwrite' });
    expect(readdirSync(scene.file('data')).toSorted()).toEqual(['made', 'new', 'old']);
    expect(readFileSync(scene.file('data/old'), 'utf8')).toBe('held\n');
  });
});
