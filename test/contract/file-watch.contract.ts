import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { FileChanges, FileWatch } from '../../src/contract/index.js';
import { codeOf, type OpenFileSystem, prepare } from './file-bench.js';

/** Reads batches until `path` was last reported as `kind`. Everything seen is returned. */
async function until(
  watch: AsyncIterator<FileChanges>,
  path: string,
  kind: string,
): Promise<Map<string, string>> {
  const seen = new Map<string, string>();
  while (seen.get(path) !== kind) {
    const next = await watch.next();
    if (next.done === true) throw new Error('the watch ended');
    for (const change of next.value.changes) seen.set(change.path, change.kind);
  }
  return seen;
}

const reader = (watch: FileWatch): AsyncIterator<FileChanges> => watch[Symbol.asyncIterator]();

export function fileWatchContract(name: string, open: OpenFileSystem): void {
  describe(`${name}: watches`, () => {
    test('a file is followed through writes, replacement, removal and return', async () => {
      await using bench = await prepare(open);
      const file = bench.at('file');
      writeFileSync(file, '1');
      await using watch = await bench.files.watch(file);
      expect(watch.path).toBe(file);
      const changes = reader(watch);
      appendFileSync(file, '2');
      await until(changes, file, 'changed');
      for (let round = 0; round < 3; round++) {
        writeFileSync(bench.at('temporary'), 'new');
        renameSync(bench.at('temporary'), file);
        expect([...(await until(changes, file, 'changed')).keys()]).toEqual([file]);
      }
      rmSync(file);
      await until(changes, file, 'removed');
      writeFileSync(file, 'back');
      await until(changes, file, 'changed');
    });

    test('a path that does not exist yet can be watched; its directory must exist', async () => {
      await using bench = await prepare(open);
      await using watch = await bench.files.watch(bench.at('later'));
      writeFileSync(bench.at('later'), '');
      await until(reader(watch), bench.at('later'), 'changed');
      expect(await codeOf(bench.files.watch(bench.at('no/file')))).toBe('notFound');
    });

    test('a link is followed to the file it leads to', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('elsewhere'));
      writeFileSync(bench.at('elsewhere/file'), '');
      symlinkSync('elsewhere/file', bench.at('link'));
      await using watch = await bench.files.watch(bench.at('link'));
      appendFileSync(bench.at('elsewhere/file'), 'more');
      await until(reader(watch), bench.at('link'), 'changed');
    });

    test('a directory on the way that is replaced by another of its name is noticed', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('a/b/watched'), { recursive: true });
      mkdirSync(bench.at('other/b/watched'), { recursive: true });
      await using watch = await bench.files.watch(bench.at('a/b/watched'));
      const changes = reader(watch);
      renameSync(bench.at('a'), bench.at('aside'));
      await until(changes, bench.at('a/b/watched'), 'removed');
      renameSync(bench.at('other'), bench.at('a'));
      await until(changes, bench.at('a/b/watched'), 'changed');
      writeFileSync(bench.at('a/b/watched/new'), '');
      await until(changes, bench.at('a/b/watched/new'), 'changed');
      rmSync(bench.at('a'), { recursive: true });
      await until(changes, bench.at('a/b/watched'), 'removed');
      mkdirSync(bench.at('a/b/watched'), { recursive: true });
      await until(changes, bench.at('a/b/watched'), 'changed');
      writeFileSync(bench.at('a/b/watched/again'), '');
      await until(changes, bench.at('a/b/watched/again'), 'changed');
    });

    test('a link that is led elsewhere is followed there', async () => {
      await using bench = await prepare(open);
      for (const name of ['one', 'two']) {
        mkdirSync(bench.at(name));
        writeFileSync(bench.at(`${name}/file`), '');
      }
      symlinkSync('one', bench.at('link'));
      await using watch = await bench.files.watch(bench.at('link/file'));
      const changes = reader(watch);
      symlinkSync('two', bench.at('new'));
      renameSync(bench.at('new'), bench.at('link'));
      await until(changes, bench.at('link/file'), 'changed');
      appendFileSync(bench.at('two/file'), 'more');
      await until(changes, bench.at('link/file'), 'changed');
    });

    test('a directory reports its entries and its own removal, and nothing from below', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('dir/sub'), { recursive: true });
      await using watch = await bench.files.watch(bench.at('dir'));
      const changes = reader(watch);
      writeFileSync(bench.at('dir/sub/below'), '');
      writeFileSync(bench.at('dir/a'), '');
      const seen = await until(changes, bench.at('dir/a'), 'changed');
      renameSync(bench.at('dir/a'), bench.at('dir/b'));
      await until(changes, bench.at('dir/b'), 'changed');
      rmSync(bench.at('dir'), { recursive: true });
      for (const path of (await until(changes, bench.at('dir'), 'removed')).keys()) seen.set(path, '');
      expect(seen.has(bench.at('dir/sub/below'))).toBe(false);
      expect(seen.has(bench.at('dir/dir'))).toBe(false);
    });

    test('a tree is watched with the directories that come later', async () => {
      await using bench = await prepare(open);
      await using watch = await bench.files.watch(bench.at(), { recursive: true });
      const changes = reader(watch);
      for (const top of ['a', 'b', 'c']) {
        mkdirSync(bench.at(`${top}/x/y/z`), { recursive: true });
        writeFileSync(bench.at(`${top}/x/y/z/file`), '');
        await until(changes, bench.at(`${top}/x/y/z/file`), 'changed');
      }
      // A directory that is replaced by one of the same name, and one that moved, stay under watch.
      rmSync(bench.at('a'), { recursive: true });
      mkdirSync(bench.at('a/x'), { recursive: true });
      renameSync(bench.at('b'), bench.at('a/x/b'));
      await until(changes, bench.at('a/x/b'), 'changed');
      writeFileSync(bench.at('a/x/b/x/y/late'), '');
      await until(changes, bench.at('a/x/b/x/y/late'), 'changed');
    });

    test('a debounced watch merges what happens to a path', async () => {
      await using bench = await prepare(open);
      await using watch = await bench.files.watch(bench.at(), { debounceMs: 200 });
      for (let round = 0; round < 50; round++) writeFileSync(bench.at('file'), String(round));
      const first = await reader(watch).next();
      expect(first.value).toEqual({
        changes: [{ path: bench.at('file'), kind: 'changed' }],
        overflow: false,
      });
    });

    // Ten thousand changes that travel one by one: a busy machine takes half a minute for them.
    test('a storm of changes is listed in full or becomes an overflow, and the watch goes on', {
      timeout: 120_000,
    }, async () => {
      await using bench = await prepare(open);
      await using watch = await bench.files.watch(bench.at());
      for (let index = 0; index < 10_000; index++) {
        symlinkSync('nowhere', bench.at(`link-${index}`));
        // Lets the events in: the kernel keeps only so many.
        if (index % 1000 === 0) await new Promise(setImmediate);
      }
      const changes = reader(watch);
      const seen = new Set<string>();
      for (let overflow = false; !overflow && seen.size < 10_000; ) {
        const { value } = await changes.next();
        overflow = value?.overflow === true;
        for (const { path } of value?.changes ?? []) seen.add(path);
      }
      // What is left of the storm may overflow once more and take the next change along: then there is another.
      for (let found = false; !found; ) {
        writeFileSync(bench.at('after'), '');
        for (let again = false; !found && !again; ) {
          const { value } = await changes.next();
          found = value?.changes.some(({ path }: { path: string }) => path === bench.at('after')) === true;
          again = value?.overflow === true;
        }
      }
    });

    test('closing or aborting ends the iteration', async () => {
      await using bench = await prepare(open);
      const watch = await bench.files.watch(bench.at());
      const pending = reader(watch).next();
      await watch.close();
      await watch.close();
      expect((await pending).done).toBe(true);
      const controller = new AbortController();
      const other = await bench.files.watch(bench.at(), { signal: controller.signal });
      const waiting = reader(other).next();
      controller.abort();
      expect((await waiting).done).toBe(true);
    });

    test('missing paths are waited for, by the first directory on the way', async () => {
      await using bench = await prepare(open);
      const missing = [bench.at('a/b/c'), bench.at('other')];
      await using watch = await bench.files.watchMissing(missing);
      if (watch === null) throw new Error('expected a watch');
      writeFileSync(bench.at('sibling'), '');
      mkdirSync(bench.at('a'));
      expect(await watch.changed).toBe(true);
      await using second = await bench.files.watchMissing(missing);
      if (second === null) throw new Error('expected a watch');
      await second.close();
      expect(await second.changed).toBe(false);
    });

    test('there is nothing to wait for when a path exists or none is listed', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), '');
      symlinkSync('nowhere', bench.at('dangling'));
      expect(await bench.files.watchMissing([])).toBe(null);
      expect(await bench.files.watchMissing([bench.at('no'), bench.at('file')])).toBe(null);
      expect(await bench.files.watchMissing([bench.at('dangling')])).toBe(null);
      expect(await bench.files.watchMissing([bench.at('no')], { present: bench.at('gone') })).toBe(null);
    });

    test('a present path is waited for to change or go', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('present'));
      for (const act of [() => appendFileSync(bench.at('file'), 'x'), () => rmSync(bench.at('file'))]) {
        appendFileSync(bench.at('file'), '');
        await using watch = await bench.files.watchMissing([bench.at('no')], { present: bench.at('file') });
        act();
        expect(await watch?.changed).toBe(true);
      }
    });
  });
}
