import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SearchQuery } from '../../src/contract/index.js';
import { codeOf, type FileBench, type OpenFileSystem, prepare } from './file-bench.js';

async function found(bench: FileBench, query: SearchQuery): Promise<string[]> {
  const { matches } = await bench.files.search(bench.at(), query);
  const prefix = bench.at().length + 1;
  return matches.map(({ path, line, column, text }) => `${path.slice(prefix)}:${line}:${column}:${text}`);
}

function plant(bench: FileBench): void {
  mkdirSync(bench.at('src/deep'), { recursive: true });
  writeFileSync(bench.at('src/a.ts'), 'first\nneedle (one)\n\nä needle and needle\r\n');
  writeFileSync(bench.at('src/deep/b.js'), 'Needle');
  writeFileSync(bench.at('notes.md'), 'a needle\n');
  writeFileSync(bench.at('.hidden'), 'needle\n');
  writeFileSync(bench.at('binary'), 'needle\0needle\n');
}

export function fileSearchContract(name: string, open: OpenFileSystem): void {
  describe(`${name}: search`, () => {
    test('text is found as it stands, with line and column', async () => {
      await using bench = await prepare(open);
      plant(bench);
      const all = ['notes.md:1:3:a needle', 'src/a.ts:2:1:needle (one)', 'src/a.ts:4:4:ä needle and needle'];
      expect(await found(bench, { pattern: 'needle' })).toEqual(all);
      expect(await found(bench, { pattern: 'needle (' })).toEqual([all[1]]);
      expect(await found(bench, { pattern: 'nothing' })).toEqual([]);
      const deep = 'src/deep/b.js:1:1:Needle';
      expect(await found(bench, { pattern: 'NEEDLE', caseSensitive: false })).toEqual([...all, deep]);
      const hidden = await found(bench, { pattern: 'needle', hidden: true });
      expect(hidden).toEqual(['.hidden:1:1:needle', ...all]);
    });

    test('expressions and globs narrow it down', async () => {
      await using bench = await prepare(open);
      plant(bench);
      const regex = { pattern: '^n.*e\\b', regex: true };
      expect(await found(bench, regex)).toEqual(['src/a.ts:2:1:needle (one)']);
      const insensitive = { pattern: 'needle', caseSensitive: false };
      const names = async (globs: string[]) => [
        ...new Set((await found(bench, { ...insensitive, globs })).map((line) => line.split(':')[0])),
      ];
      expect(await names(['*.ts'])).toEqual(['src/a.ts']);
      expect(await names(['*.{ts,js}'])).toEqual(['src/a.ts', 'src/deep/b.js']);
      expect(await names(['!*.md'])).toEqual(['src/a.ts', 'src/deep/b.js']);
      expect(await names(['**/deep/**'])).toEqual(['src/deep/b.js']);
    });

    test('pages follow each other without gap or overlap', async () => {
      await using bench = await prepare(open);
      const lines = Array.from({ length: 25 }, (_, index) => `match ${index}`);
      writeFileSync(bench.at('a'), lines.slice(0, 13).join('\n'));
      writeFileSync(bench.at('b'), lines.slice(13).join('\n'));
      const texts: string[] = [];
      let cursor: string | null = null;
      let pages = 0;
      do {
        const page = await bench.files.search(bench.at(), { pattern: 'match', maxMatches: 10, cursor });
        texts.push(...page.matches.map((match) => match.text));
        cursor = page.cursor;
        pages += 1;
      } while (cursor !== null);
      expect(texts).toEqual(lines);
      expect(pages).toBe(3);
    });

    test('a long line is cut and says so', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('min.js'), `needle${'x'.repeat(100_000)}`);
      const { matches } = await bench.files.search(bench.at('min.js'), { pattern: 'needle' });
      expect(matches).toMatchObject([{ path: bench.at('min.js'), line: 1, column: 1, cut: true }]);
      expect(matches[0]?.text).toHaveLength(1024);
    });

    test('bad queries are refused', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), 'text');
      const search = (query: SearchQuery) => codeOf(bench.files.search(bench.at(), query));
      expect(await search({ pattern: '(', regex: true })).toBe('invalidParams');
      expect(await search({ pattern: '' })).toBe('invalidParams');
      expect(await search({ pattern: 'x', maxMatches: 0 })).toBe('invalidLimit');
      expect(await search({ pattern: 'x', cursor: 'nonsense' })).toBe('invalidParams');
      expect(await codeOf(bench.files.search(bench.at('missing'), { pattern: 'x' }))).toBe('notFound');
    });

    test('a search can be given up', async () => {
      await using bench = await prepare(open);
      writeFileSync(bench.at('file'), 'text\n'.repeat(1000));
      const controller = new AbortController();
      controller.abort();
      const query = { pattern: 'text', signal: controller.signal };
      expect(await codeOf(bench.files.search(bench.at(), query))).toBe('aborted');
    });
  });
}
