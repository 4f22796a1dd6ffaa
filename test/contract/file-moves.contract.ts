import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeOf, type OpenFileSystem, prepare } from './file-bench.js';

export function fileMovesContract(name: string, open: OpenFileSystem): void {
  describe(`${name}: copies, moves and links`, () => {
    test('a file is copied with its permissions, over another, and never onto itself', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), 'content', { mode: 0o750 });
      writeFileSync(bench.at('other'), 'much longer than the other', { mode: 0o600 });
      symlinkSync('file', bench.at('link'));
      await bench.files.copy(bench.at('file'), bench.at('other'));
      expect(readFileSync(bench.at('other'), 'utf8')).toBe('content');
      expect(statSync(bench.at('other')).mode & 0o777).toBe(0o750);
      expect(await codeOf(bench.files.copy(bench.at('file'), bench.at('file')))).toBe('invalidPath');
      expect(await codeOf(bench.files.copy(bench.at('file'), bench.at('link')))).toBe('invalidPath');
      expect(readFileSync(bench.at('file'), 'utf8')).toBe('content');
      await bench.files.copy(bench.at('link'), bench.at('link2'));
      expect((await bench.files.getMetadata(bench.at('link2'))).isSymlink).toBe(true);
      expect(await codeOf(bench.files.copy(bench.at('link'), bench.at('link2')))).toBe('ioFailed');
      expect(await codeOf(bench.files.copy(bench.at('file'), bench.at()))).toBe('ioFailed');
      expect(await codeOf(bench.files.copy(bench.at('file'), bench.at('no/file')))).toBe('notFound');
      expect(await codeOf(bench.files.copy(bench.at('none'), bench.at('x')))).toBe('notFound');
    });

    test('a directory is copied when asked, merges, and never goes into itself', async () => {
      await using bench = await prepare(open);
      mkdirSync(bench.at('from/sub'), { recursive: true });
      writeFileSync(bench.at('from/sub/file'), 'new');
      symlinkSync('sub', bench.at('from/link'));
      execFileSync('mkfifo', [bench.at('from/fifo')]);
      mkdirSync(bench.at('to/sub'), { recursive: true });
      writeFileSync(bench.at('to/sub/file'), 'old');
      writeFileSync(bench.at('to/sub/kept'), '');
      expect(await codeOf(bench.files.copy(bench.at('from'), bench.at('x')))).toBe('invalidFile');
      const recursive = { recursive: true };
      for (const inside of ['from', 'from/sub/deeper', 'from/new'])
        expect(await codeOf(bench.files.copy(bench.at('from'), bench.at(inside), recursive))).toBe(
          'invalidPath',
        );
      await bench.files.copy(bench.at('from'), bench.at('to'), recursive);
      expect(readFileSync(bench.at('to/sub/file'), 'utf8')).toBe('new');
      const { entries } = await bench.files.walk(bench.at('to'));
      expect(entries.map((entry) => entry.path)).toEqual(
        ['sub', 'sub/file', 'sub/kept'].map((p) => bench.at(`to/${p}`)),
      );
      await bench.files.copy(bench.at('from'), bench.at('p/q/r'), recursive);
      expect(readFileSync(bench.at('p/q/r/sub/file'), 'utf8')).toBe('new');
      writeFileSync(bench.at('file'), '');
      expect(await codeOf(bench.files.copy(bench.at('from'), bench.at('file'), recursive))).toBe('ioFailed');
    });

    test('a rename replaces a file and moves a directory', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('a'), 'a');
      writeFileSync(bench.at('b'), 'b');
      mkdirSync(bench.at('dir/sub'), { recursive: true });
      await bench.files.rename(bench.at('a'), bench.at('b'));
      expect(readFileSync(bench.at('b'), 'utf8')).toBe('a');
      await bench.files.rename(bench.at('dir'), bench.at('moved'));
      expect(statSync(bench.at('moved/sub')).isDirectory()).toBe(true);
      expect(await codeOf(bench.files.rename(bench.at('a'), bench.at('c')))).toBe('notFound');
      expect(await codeOf(bench.files.rename(bench.at('b'), bench.at('moved')))).toBe('ioFailed');
    });

    test('without following, no component may be a link', async () => {
      await using bench = await prepare(open);
      const { files } = bench;
      mkdirSync(bench.at('dir'));
      writeFileSync(bench.at('dir/file'), 'content');
      symlinkSync('dir', bench.at('dirlink'));
      symlinkSync('dir/file', bench.at('link'));
      // The directory itself may lie behind a link of the system's.
      const base = await files.canonicalize(bench.at());
      const no = { followSymlinks: false };
      const at = (path: string) => join(base, path);
      expect(Buffer.from(await files.readFile(at('dir/file'), no)).toString()).toBe('content');
      expect(await codeOf(files.readFile(at('link'), no))).toBe('ioFailed');
      expect(await codeOf(files.readFile(at('dirlink/file'), no))).toBe('ioFailed');
      for (const atomic of [false, true]) {
        await files.writeFile(at('dir/file'), 'again', { ...no, atomic });
        expect(await codeOf(files.writeFile(at('link'), '', { ...no, atomic }))).toBe('ioFailed');
        expect(await codeOf(files.writeFile(at('dirlink/file'), '', { ...no, atomic }))).toBe('ioFailed');
      }
      expect(readFileSync(bench.at('dir/file'), 'utf8')).toBe('again');
      await files.createDirectory(at('new/a/b'), no);
      expect(await codeOf(files.createDirectory(at('dirlink/x'), no))).toBe('ioFailed');
      expect(await codeOf(files.createDirectory(at('dirlink'), no))).toBe('ioFailed');
      expect(await files.getMetadata(at('dir/file'), no)).toMatchObject({ isFile: true, isSymlink: false });
      expect(await codeOf(files.getMetadata(at('link'), no))).toBe('invalidPath');
      expect(await codeOf(files.getMetadata(at('dirlink/file'), no))).toBe('ioFailed');
      const one = { ...no, recursive: false };
      expect(await codeOf(files.remove(at('link'), no))).toBe('ioFailed');
      expect(await codeOf(files.remove(at('link'), one))).toBe('invalidPath');
      expect(await codeOf(files.remove(at('dirlink/file'), one))).toBe('ioFailed');
      await files.remove(at('dir/file'), one);
      expect(await codeOf(files.remove(at('dir/file'), { ...one, force: false }))).toBe('notFound');
    });
  });
}
