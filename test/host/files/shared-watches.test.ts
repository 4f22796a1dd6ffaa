import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { FileWatch } from '../../../src/contract/index.js';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';
import { benchDirectory } from './bench-directory.js';

/** Everything reported until this path is. */
async function until(watch: FileWatch, path: string): Promise<string[]> {
  const seen: string[] = [];
  for await (const { changes } of watch) {
    seen.push(...changes.map((change) => change.path));
    if (seen.includes(path)) return seen;
  }
  throw new Error('the watch ended');
}

test('watches of one path end by themselves, and each reports from its beginning', async () => {
  using bench = benchDirectory();
  mkdirSync(bench.at('d'));
  const files = new LocalFileSystem();
  const first = await files.watch(bench.at('d'));
  writeFileSync(bench.at('d/before'), '');
  await using second = await files.watch(bench.at('d'));
  writeFileSync(bench.at('d/after'), '');
  expect(await until(first, bench.at('d/after'))).toContain(bench.at('d/before'));
  expect(await until(second, bench.at('d/after'))).not.toContain(bench.at('d/before'));
  await first.close();
  await first.close();
  writeFileSync(bench.at('d/later'), '');
  await until(second, bench.at('d/later'));
});

test('whoever joins a watch gets the error that the first would get', async () => {
  using bench = benchDirectory();
  mkdirSync(bench.at('d'));
  const files = new LocalFileSystem();
  await using _ = await files.watch(bench.at('d/file'));
  rmSync(bench.at('d'), { recursive: true });
  await expect(files.watch(bench.at('d/file'))).rejects.toMatchObject({ code: 'notFound' });
});

test('watches survive that their directory is replaced, each time', async () => {
  using bench = benchDirectory();
  mkdirSync(bench.at('d'));
  const files = new LocalFileSystem();
  await using one = await files.watch(bench.at('d'));
  await using two = await files.watch(bench.at('d/file'));
  for (let round = 0; round < 5; round += 1) {
    if (round % 2 === 0) rmSync(bench.at('d'), { recursive: true });
    else renameSync(bench.at('d'), bench.at(`d${round}`));
    mkdirSync(bench.at('d'));
    await until(one, bench.at('d'));
    writeFileSync(bench.at('d/file'), `${round}`);
    await until(two, bench.at('d/file'));
    await until(one, bench.at('d/file'));
  }
});
