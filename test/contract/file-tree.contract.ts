import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeOf, type OpenFileSystem, prepare } from './file-bench.js';

const bytes = (text: string): Buffer => Buffer.from(text);

export function fileTreeContract(name: string, open: OpenFileSystem): void {
  describe(`${name}: trees`, () => {
    test('directories are made with parents unless told otherwise', async () => {
      await using bench = await prepare(open);
      await bench.files.createDirectory(bench.at('a/b/c'));
      await bench.files.createDirectory(bench.at('a/b/c'));
      writeFileSync(bench.at('file'), '');
      const plain = { recursive: false };
      expect(await codeOf(bench.files.createDirectory(bench.at('a'), plain))).toBe('ioFailed');
      expect(await codeOf(bench.files.createDirectory(bench.at('x/y'), plain))).toBe('notFound');
      expect(await codeOf(bench.files.createDirectory(bench.at('file')))).toBe('ioFailed');
      expect(await codeOf(bench.files.createDirectory(bench.at('file/x')))).toBe('ioFailed');
      expect(statSync(bench.at('a/b/c')).isDirectory()).toBe(true);
    });

    test('metadata describes the target and says when the path is a link', async () => {
      await using bench = await prepare(open);
      const before = Date.now();
      writeFileSync(bench.at('file'), 'four');
      symlinkSync('file', bench.at('link'));
      symlinkSync('nowhere', bench.at('dangling'));
      const metadata = await bench.files.getMetadata(bench.at('link'));
      expect(metadata).toMatchObject({ isDirectory: false, isFile: true, isSymlink: true, size: 4 });
      expect(Number.isInteger(metadata.createdAtMs)).toBe(true);
      // The kernel's clock for files ticks coarser than the process's.
      expect(metadata.createdAtMs).toBeGreaterThan(before - 1000);
      expect(metadata.modifiedAtMs).toBeGreaterThan(before - 1000);
      expect(await bench.files.getMetadata(bench.at())).toMatchObject({ isDirectory: true, isFile: false });
      expect(await codeOf(bench.files.getMetadata(bench.at('dangling')))).toBe('notFound');
    });

    test('canonical paths have no links and must exist', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('real dir'));
      writeFileSync(bench.at('real dir/file'), '');
      symlinkSync('real dir', bench.at('link'));
      const real = await bench.files.canonicalize(bench.at());
      expect(await bench.files.canonicalize(bench.at('link/../link/./file'))).toBe(
        join(real, 'real dir/file'),
      );
      expect(await codeOf(bench.files.canonicalize(bench.at('missing')))).toBe('notFound');
    });

    test('a listing resolves links, shows dangling ones, and has details on request', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('dir'));
      writeFileSync(bench.at('file'), '123', { mode: 0o640 });
      symlinkSync('dir', bench.at('to-dir'));
      symlinkSync('nowhere', bench.at('dangling'));
      const listed = async (details: boolean) =>
        [...(await bench.files.readDirectory(bench.at(), { details }))].sort((a, b) =>
          a.name < b.name ? -1 : 1,
        );
      const item = (name: string, isDirectory: boolean, isFile: boolean) => ({
        name,
        path: bench.at(name),
        isDirectory,
        isFile,
      });
      expect(await listed(false)).toEqual([
        item('dangling', false, false),
        item('dir', true, false),
        item('file', false, true),
        item('to-dir', true, false),
      ]);
      const detailed = await listed(true);
      expect(detailed[2]).toEqual({
        ...item('file', false, true),
        isSymlink: false,
        size: 3,
        mode: 0o640,
        modifiedAtUs: expect.any(Number),
      });
      expect(detailed[3]).toMatchObject({ isSymlink: true, isDirectory: true });
      expect(await codeOf(bench.files.readDirectory(bench.at('file')))).toBe('ioFailed');
      expect(await codeOf(bench.files.readDirectory(bench.at('missing')))).toBe('notFound');
    });

    test('a walk is breadth first and sorted, and leaves links out unless told to follow', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('b/deep'), { recursive: true });
      mkdirSync(bench.at('.hidden'));
      for (const path of ['B', 'a', 'b/x', 'b/deep/y', '.hidden/z']) writeFileSync(bench.at(path), '');
      symlinkSync('..', bench.at('b/up'));
      symlinkSync('a', bench.at('link'));
      const paths = async (options: object) => {
        const { entries, errors, truncated } = await bench.files.walk(bench.at(), options);
        const shown = entries.map(({ path, kind }) => `${path.slice(bench.at().length + 1)} ${kind}`);
        return { shown, errors, truncated };
      };
      const top = ['.hidden directory', 'B file', 'a file', 'b directory'];
      const below = ['.hidden/z file', 'b/deep directory', 'b/x file', 'b/deep/y file'];
      expect(await paths({})).toEqual({ shown: [...top, ...below], errors: [], truncated: false });
      expect((await paths({ maxDepth: 0 })).shown).toEqual(top);
      expect((await paths({ pruneHiddenDirectories: true })).shown).toEqual([...top, ...below.slice(1)]);
      const followed = [...top, ...below.slice(0, 2), 'b/up directory', ...below.slice(2)];
      expect((await paths({ followDirectorySymlinks: true })).shown).toEqual(followed);
      expect(await paths({ maxEntries: 3 })).toMatchObject({ shown: top.slice(0, 3), truncated: true });
      expect(await paths({ maxDirectories: 1 })).toMatchObject({ shown: top, truncated: true });
    });

    test('a walk has limits, and a start that must exist', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), '');
      mkdirSync(bench.at('dir/sub'), { recursive: true });
      symlinkSync('dir', bench.at('link'));
      for (const options of [{ maxDepth: 65 }, { maxDirectories: 0 }, { maxDirectories: 10_001 }])
        expect(await codeOf(bench.files.walk(bench.at(), options))).toBe('invalidLimit');
      for (const options of [{ maxEntries: 0 }, { maxEntries: 50_001 }])
        expect(await codeOf(bench.files.walk(bench.at(), options))).toBe('invalidLimit');
      expect(await codeOf(bench.files.walk(bench.at('missing')))).toBe('notFound');
      expect((await bench.files.walk(bench.at('file'))).entries).toEqual([]);
      expect((await bench.files.walk(bench.at('link'))).entries).toEqual([]);
      const followed = await bench.files.walk(bench.at('link'), { followDirectorySymlinks: true });
      expect(followed.entries).toEqual([{ path: bench.at('link/sub'), kind: 'directory' }]);
    });

    test('removal takes trees by default, forgives what is missing, and never follows a link', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('tree/a/b'), { recursive: true });
      writeFileSync(bench.at('tree/a/b/file'), '');
      mkdirSync(bench.at('kept'));
      writeFileSync(bench.at('kept/file'), '');
      symlinkSync('../kept', bench.at('tree/link'));
      symlinkSync('kept', bench.at('link'));
      expect(await codeOf(bench.files.remove(bench.at('tree'), { recursive: false }))).toBe('ioFailed');
      await bench.files.remove(bench.at('tree'));
      await bench.files.remove(bench.at('tree'));
      await bench.files.remove(bench.at('link'));
      expect(await codeOf(bench.files.remove(bench.at('tree'), { force: false }))).toBe('notFound');
      expect((await bench.files.readDirectory(bench.at())).map((entry) => entry.name)).toEqual(['kept']);
      expect(await bench.files.readDirectory(bench.at('kept'))).toHaveLength(1);
      mkdirSync(bench.at('empty'));
      await bench.files.remove(bench.at('empty'), { recursive: false });
    });

    test('every byte but slash and NUL can be in a name, and comes back usable', async () => {
      await using bench = await prepare(open);
      const values = Array.from({ length: 255 }, (_, index) => index + 1).filter((value) => value !== 0x2f);
      for (const value of values)
        writeFileSync(Buffer.concat([bytes(`${bench.at()}/n`), Buffer.of(value)]), Buffer.of(value));
      const listed = await bench.files.readDirectory(bench.at());
      const walked = (await bench.files.walk(bench.at())).entries;
      expect(walked).toHaveLength(254);
      for (const paths of [listed, walked]) {
        const found = await Promise.all(paths.map(async ({ path }) => (await bench.files.readFile(path))[0]));
        expect(found.sort((a = 0, b = 0) => a - b)).toEqual(values);
      }
    });
  });
}
