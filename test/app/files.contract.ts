import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type AppClient, base64 } from '../../testkit/app-client.mjs';
import type { OpenApp } from '../../testkit/app-server.mjs';
import { TestFolder } from '../harness/processes.js';

/** What a watch reported so far, as one set of paths. */
function changed(client: AppClient, watchId: string): Set<string> {
  const batches = client.notifications('fs/changed').filter(({ params }) => params.watchId === watchId);
  return new Set(batches.flatMap(({ params }) => params.changedPaths as string[]));
}

/** `fs/*`. Destructive calls stay inside folders the test made. */
export function filesContract(name: string, open: OpenApp): void {
  describe(`${name}: files`, () => {
    test('paths must be absolute and whole; dots are resolved by name', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      writeFileSync(folder.file('a'), 'text');
      const dotted = `${folder.path}/./no-such/../a`;
      expect(await client.call('fs/readFile', { path: dotted })).toEqual({ dataBase64: base64('text') });
      for (const path of ['relative', '', '~/x', 'file:///x', null]) {
        expect((await client.refusal('fs/readFile', { path }))[1]).toMatch(/^Invalid request: /);
      }
      expect((await client.refusal('fs/readFile', { path: `${folder.path}/a\0b` }))[0]).toBe(-32600);
    });

    test('reading: regular files only', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      execFileSync('mkfifo', [folder.file('fifo')]);
      const code = async (path: string) => (await client.refusal('fs/readFile', { path }))[0];
      expect(await code(folder.path)).toBe(-32600);
      expect(await code('/dev/null')).toBe(-32600);
      expect(await code(folder.file('fifo'))).toBe(-32600);
      expect(await code(folder.file('missing'))).toBe(-32603);
    });

    test('writing: creates, truncates, needs a directory and valid data, never hangs on a pipe', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const write = (name: string, dataBase64: string) => ({ path: folder.file(name), dataBase64 });
      await client.call('fs/writeFile', write('a', base64('longer')));
      await client.call('fs/writeFile', write('a', base64('new')));
      expect(readFileSync(folder.file('a'), 'utf8')).toBe('new');
      expect((await client.refusal('fs/writeFile', write('a', '!')))[0]).toBe(-32600);
      expect((await client.refusal('fs/writeFile', write('none/a', '')))[0]).toBe(-32603);
      mkdirSync(folder.file('dir'));
      expect((await client.refusal('fs/writeFile', write('dir', '')))[0]).toBe(-32603);
      execFileSync('mkfifo', [folder.file('fifo')]);
      expect((await client.refusal('fs/writeFile', write('fifo', 'aGk=')))[0]).toBe(-32603);
      expect(readFileSync(folder.file('a'), 'utf8')).toBe('new');
    });

    test('directories: made with parents by default, listed through links', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const make = (name: string, more: object = {}) => ({ path: folder.file(name), ...more });
      await client.call('fs/createDirectory', make('a/b'));
      await client.call('fs/createDirectory', make('a/b', { recursive: null }));
      expect((await client.refusal('fs/createDirectory', make('a/b', { recursive: false })))[0]).toBe(-32603);
      writeFileSync(folder.file('file'), '');
      expect((await client.refusal('fs/createDirectory', make('file')))[0]).toBe(-32603);
      symlinkSync('a', folder.file('link'));
      symlinkSync('nowhere', folder.file('dangling'));
      const { entries } = await client.call('fs/readDirectory', { path: folder.path });
      expect(new Set(entries as object[])).toEqual(
        new Set([
          { fileName: 'a', isDirectory: true, isFile: false },
          { fileName: 'dangling', isDirectory: false, isFile: false },
          { fileName: 'file', isDirectory: false, isFile: true },
          { fileName: 'link', isDirectory: true, isFile: false },
        ]),
      );
      expect((await client.refusal('fs/readDirectory', make('file')))[0]).toBe(-32603);
      expect((await client.refusal('fs/readDirectory', make('missing')))[0]).toBe(-32603);
    });

    test('metadata follows links and says that it did', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      writeFileSync(folder.file('file'), 'x');
      symlinkSync('file', folder.file('link'));
      symlinkSync('loop', folder.file('loop'));
      const found = await client.call('fs/getMetadata', { path: folder.file('link') });
      expect(found).toEqual({
        isDirectory: false,
        isFile: true,
        isSymlink: true,
        createdAtMs: expect.any(Number),
        modifiedAtMs: expect.any(Number),
      });
      expect(Math.abs(Number(found.modifiedAtMs) - statSync(folder.file('file')).mtimeMs)).toBeLessThan(2);
      for (const missing of ['loop', 'missing']) {
        expect((await client.refusal('fs/getMetadata', { path: folder.file(missing) }))[0]).toBe(-32603);
      }
    });

    test('removing: recursive and forgiving unless told otherwise, links themselves', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const at = (name: string, more: object = {}) => ({ path: folder.file(name), ...more });
      mkdirSync(folder.file('full/sub'), { recursive: true });
      symlinkSync('full', folder.file('link'));
      await client.call('fs/remove', at('link'));
      expect(readdirSync(folder.path)).toEqual(['full']);
      expect((await client.refusal('fs/remove', at('full', { recursive: false })))[0]).toBe(-32603);
      await client.call('fs/remove', at('full/sub', { recursive: false }));
      await client.call('fs/remove', at('full', { recursive: null, force: null }));
      await client.call('fs/remove', at('full'));
      expect((await client.refusal('fs/remove', at('full', { force: false })))[0]).toBe(-32603);
      expect(readdirSync(folder.path)).toEqual([]);
    });

    test('copying: files overwrite, directories merge, links stay links, modes are kept', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const copy = (from: string, to: string, more: object = {}) => ({
        sourcePath: folder.file(from),
        destinationPath: folder.file(to),
        ...more,
      });
      mkdirSync(folder.file('dir'));
      mkdirSync(folder.file('there'));
      writeFileSync(folder.file('dir/tool'), 'tool');
      chmodSync(folder.file('dir/tool'), 0o750);
      symlinkSync('tool', folder.file('dir/link'));
      writeFileSync(folder.file('there/own'), 'own');
      writeFileSync(folder.file('old'), 'a longer text');
      await client.call('fs/copy', copy('dir/tool', 'old'));
      expect(readFileSync(folder.file('old'), 'utf8')).toBe('tool');
      await client.call('fs/copy', copy('dir', 'there', { recursive: true }));
      expect(readdirSync(folder.file('there')).sort()).toEqual(['link', 'own', 'tool']);
      expect(readlinkSync(folder.file('there/link'))).toBe('tool');
      expect(lstatSync(folder.file('there/tool')).mode & 0o777).toBe(0o750);
      const code = async (params: object) => (await client.refusal('fs/copy', params))[0];
      expect(await code(copy('dir', 'x'))).toBe(-32600);
      expect(await code(copy('dir', 'dir', { recursive: true }))).toBe(-32600);
      expect(await code(copy('dir', 'dir/below', { recursive: true }))).toBe(-32600);
      expect(await code({ sourcePath: '/dev/null', destinationPath: folder.file('x') })).toBe(-32600);
      expect(await code(copy('missing', 'x'))).toBe(-32603);
      expect(await code(copy('old', 'dir'))).toBe(-32603);
      await client.ask('fs/copy', copy('old', 'old'));
      expect(readFileSync(folder.file('old'), 'utf8')).toBe('tool');
      expect(existsSync(folder.file('x'))).toBe(false);
    });

    test('a watched file is watched while missing, written, replaced and removed', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const path = folder.file('watched');
      const answer = await client.call('fs/watch', { watchId: '', path: `${folder.path}/x/../watched` });
      expect(answer).toEqual({ path });
      const seen = async (act: () => void): Promise<void> => {
        client.wire.arrivals.length = 0;
        act();
        await client.wire.until(() => changed(client, '').has(path));
        expect(changed(client, '')).toEqual(new Set([path]));
      };
      await seen(() => writeFileSync(path, 'one'));
      for (const text of ['two', 'three', 'four']) {
        await seen(() => {
          writeFileSync(folder.file('new'), text);
          renameSync(folder.file('new'), path);
        });
      }
      await seen(() => writeFileSync(path, 'five'));
      await seen(() => rmSync(path));
    });

    test('a watched directory reports its entries, sorted, and not what is below them', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      mkdirSync(folder.file('sub'));
      writeFileSync(folder.file('old'), '');
      await client.call('fs/watch', { watchId: 'w', path: folder.path });
      writeFileSync(folder.file('sub/deep'), '');
      writeFileSync(folder.file('b'), '');
      renameSync(folder.file('old'), folder.file('a'));
      await client.wire.until(() =>
        ['a', 'b', 'old'].every((each) => changed(client, 'w').has(folder.file(each))),
      );
      expect(changed(client, 'w').has(folder.file('sub/deep'))).toBe(false);
      for (const { params } of client.notifications('fs/changed')) {
        expect(params.changedPaths).toEqual([...(params.changedPaths as string[])].sort());
      }
    });

    test('watch ids: one watch each; after unwatch nothing arrives', async () => {
      await using app = await open();
      using folder = new TestFolder();
      const client = await app.client.initialize();
      const watch = (watchId: string) => client.ask('fs/watch', { watchId, path: folder.path });
      await watch('w');
      await watch('other');
      expect((await watch('w')).error).toMatchObject({ code: -32600, message: 'watchId already exists: w' });
      writeFileSync(folder.file('a'), '');
      await client.call('fs/unwatch', { watchId: 'w' });
      await client.call('fs/unwatch', { watchId: 'w' });
      await client.call('fs/unwatch', { watchId: 'never' });
      const before = client.notifications('fs/changed').filter(({ params }) => params.watchId === 'w').length;
      await client.wire.until(() => changed(client, 'other').has(folder.file('a')));
      const after = client.notifications('fs/changed').filter(({ params }) => params.watchId === 'w').length;
      expect(after).toBe(before);
      expect((await watch('w')).result).toEqual({ path: folder.path });
    });
  });
}
