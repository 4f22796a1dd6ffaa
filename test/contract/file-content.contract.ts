import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fileUri } from '../../src/protocol/index.js';
import { codeOf, type OpenFileSystem, prepare } from './file-bench.js';

const bytes = (text: string): Buffer => Buffer.from(text);

export function fileContentContract(name: string, open: OpenFileSystem): void {
  describe(`${name}: content`, () => {
    test('content goes in and comes out, by path and by URI', async () => {
      await using bench = await prepare(open);
      const all = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
      await bench.files.writeFile(bench.at('all bytes'), all);
      expect(Buffer.from(await bench.files.readFile(bench.at('all bytes')))).toEqual(all);
      expect(Buffer.from(await bench.files.readFile(fileUri(bench.at('all bytes'))))).toEqual(all);
      await bench.files.writeFile(bench.at('all bytes'), 'shorter');
      expect(readFileSync(bench.at('all bytes'), 'utf8')).toBe('shorter');
      await bench.files.writeFile(bench.at('all bytes'), '');
      expect(await bench.files.readFile(bench.at('all bytes'))).toHaveLength(0);
    });

    test('a read tells a missing path, a directory and a file on the way apart', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), '');
      expect(await codeOf(bench.files.readFile(bench.at('missing')))).toBe('notFound');
      expect(await codeOf(bench.files.readFile(bench.at()))).toBe('invalidFile');
      expect(await codeOf(bench.files.readFile('/dev/zero'))).toBe('invalidFile');
      expect(await codeOf(bench.files.readFile(bench.at('file/below')))).toBe('ioFailed');
    });

    test('a FIFO is refused and never waited for', async () => {
      await using bench = await prepare(open);
      execFileSync('mkfifo', [bench.at('fifo')]);
      expect(await codeOf(bench.files.readFile(bench.at('fifo')))).toBe('invalidFile');
      expect(await codeOf(bench.files.writeFile(bench.at('fifo'), 'x'))).toBe('ioFailed');
      expect(await codeOf(bench.files.writeFile(bench.at('fifo'), 'x', { atomic: true }))).toBe(
        'invalidFile',
      );
      expect(await codeOf(bench.files.open(bench.at('fifo')))).toBe('invalidFile');
      expect(await codeOf(bench.files.open(bench.at('fifo'), { mode: 'replace' }))).toBe('ioFailed');
      expect(await codeOf(bench.files.copy(bench.at('fifo'), bench.at('copy')))).toBe('invalidFile');
      expect(await bench.files.getMetadata(bench.at('fifo'))).toMatchObject({
        isFile: false,
        isDirectory: false,
      });
    });

    test('a write needs its directory and follows links, dangling ones too', async () => {
      await using bench = await prepare(open);
      expect(await codeOf(bench.files.writeFile(bench.at('no/file'), ''))).toBe('notFound');
      expect(await codeOf(bench.files.writeFile(bench.at(), ''))).toBe('ioFailed');
      symlinkSync('target', bench.at('link'));
      await bench.files.writeFile(bench.at('link'), 'through');
      expect(readFileSync(bench.at('target'), 'utf8')).toBe('through');
    });

    test('an atomic write keeps mode and link, and makes new files as usual', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('script'), 'old', { mode: 0o750 });
      symlinkSync('script', bench.at('link'));
      await bench.files.writeFile(bench.at('link'), 'new', { atomic: true });
      expect(readFileSync(bench.at('script'), 'utf8')).toBe('new');
      expect(statSync(bench.at('script')).mode & 0o777).toBe(0o750);
      expect((await bench.files.getMetadata(bench.at('link'))).isSymlink).toBe(true);
      symlinkSync('made', bench.at('dangling'));
      await bench.files.writeFile(bench.at('dangling'), 'made', { atomic: true });
      expect(readFileSync(bench.at('made'), 'utf8')).toBe('made');
      expect(await codeOf(bench.files.writeFile(bench.at(), '', { atomic: true }))).toBe('ioFailed');
      const names = (await bench.files.readDirectory(bench.at())).map((entry) => entry.name).sort();
      expect(names).toEqual(['dangling', 'link', 'made', 'script']);
    });

    test('two writers leave the content of one of them', async () => {
      await using bench = await prepare(open);
      const contents = ['a', 'b'].map((letter) => letter.repeat(300_000));
      const seen = new Set<string>();
      await bench.files.writeFile(bench.at('file'), contents[0] ?? '', { atomic: true });
      for (let round = 0; round < 10; round++) {
        const writes = contents.map((text) =>
          bench.files.writeFile(bench.at('file'), text, { atomic: true }),
        );
        seen.add(Buffer.from(await bench.files.readFile(bench.at('file'))).toString());
        await Promise.all(writes);
        seen.add(readFileSync(bench.at('file'), 'utf8'));
      }
      expect([...seen].every((text) => contents.includes(text))).toBe(true);
      expect(await bench.files.readDirectory(bench.at())).toHaveLength(1);
    });

    test('a handle reads blocks anywhere and says when fewer bytes were there', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), '0123456789');
      await using handle = await bench.files.open(bench.at('file'));
      const read = async (offset: number, length: number) => {
        const block = await handle.read(offset, length);
        return [Buffer.from(block.bytes).toString(), block.eof];
      };
      expect(await read(0, 4)).toEqual(['0123', false]);
      expect(await read(8, 2)).toEqual(['89', false]);
      expect(await read(8, 3)).toEqual(['89', true]);
      expect(await read(50, 5)).toEqual(['', true]);
      await handle.close();
      await handle.close();
    });

    test('a handle replaces a file, in any order and with holes', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), 'old content');
      await using handle = await bench.files.open(bench.at('file'), { mode: 'replace' });
      expect(statSync(bench.at('file')).size).toBe(0);
      await handle.write(6, bytes('end'));
      await handle.write(0, bytes('abc'));
      await handle.close();
      expect(readFileSync(bench.at('file'))).toEqual(bytes('abc\0\0\0end'));
      expect(await codeOf(bench.files.open(bench.at('missing')))).toBe('notFound');
      expect(await codeOf(bench.files.open(bench.at()))).toBe('invalidFile');
      expect(await codeOf(bench.files.open(bench.at(), { mode: 'replace' }))).toBe('ioFailed');
    });

    test('an open policy changes nothing', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), 'content');
      const policies = [{ type: 'disabled' }, { type: 'external', network: 'restricted' }] as const;
      for (const permissions of policies)
        expect(await bench.files.readFile(bench.at('file'), { sandbox: { permissions } })).toHaveLength(7);
    });

    test('a relative path is refused', async () => {
      await using bench = await prepare(open);
      for (const path of ['relative', '', './x'])
        expect(await codeOf(bench.files.readFile(path))).toBe('invalidPath');
      expect(await codeOf(bench.files.readFile('file://elsewhere/x'))).toBe('invalidPath');
      expect(await codeOf(bench.files.readFile('/a\0b'))).toBe('invalidParams');
    });
  });
}
