import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../../src/host/files/local-file-system.js';
import { trustedProgram } from '../../../src/host/kernel/trusted-path.js';
import { isExecError } from '../../../src/protocol/index.js';
import { seededRandom } from '../../harness/random.js';
import { benchDirectory } from './bench-directory.js';

/** Hundreds of searches by another program take a while on a busy machine. */
const LIMIT_MS = 120_000;

const NAMES = ['a', 'b', 'ab', 'a.ts', 'b.js', 'a-b', 'ä', '*', '{a}', '.a', ' a '];

/** Names at three depths, each directory with all of them as files. */
function plant(at: (name?: string) => string): void {
  const directories = ['', 'a/', 'a/b/', 'ab/', '.a/', 'b.js/', 'ä/', 'a/.git/', 'a/b/a/'];
  for (const directory of directories) {
    for (const name of NAMES) {
      const path = at(`${directory}${name}`);
      mkdirSync(dirname(path), { recursive: true });
      if (!directories.includes(`${directory}${name}/`)) writeFileSync(path, 'needle\n');
    }
  }
}

interface Request {
  readonly globs: readonly string[];
  readonly hidden?: boolean;
}

const { PATH: path } = process.env;
afterAll(() => {
  process.env['PATH'] = path;
});

/** What is found, or the code of the refusal. */
async function found(root: string, request: Request, searchPath: string | undefined): Promise<string> {
  process.env['PATH'] = searchPath;
  try {
    const query = { pattern: 'needle', maxMatches: 1000, ...request };
    const { matches } = await new LocalFileSystem().search(root, query);
    return matches.map((match) => match.path.slice(root.length)).join('\n');
  } catch (error) {
    return isExecError(error) ? error.code : String(error);
  }
}

/** Requests that are answered differently with ripgrep and without. */
async function differences(root: string, requests: readonly Request[]): Promise<object[]> {
  const different = [];
  for (const request of requests) {
    const [theirs, ours] = [await found(root, request, path), await found(root, request, '/nonexistent')];
    if (theirs !== ours) different.push({ request, theirs, ours });
  }
  return different;
}

const CHOSEN: readonly (readonly string[])[] = [
  [],
  ['a'],
  ['*.ts'],
  ['a/*'],
  ['/a'],
  ['/a/*'],
  ['a/'],
  ['!a/'],
  ['!a'],
  ['!/a'],
  ['**'],
  ['!**'],
  ['**/a/**'],
  ['a/**'],
  ['!a/**'],
  ['a/**/a'],
  ['a/**/**/a'],
  ['**/**'],
  ['a**'],
  ['**a'],
  ['a/**b'],
  ['{a,b}'],
  ['{a,b}.{ts,js}'],
  ['{a/**,b}'],
  ['{**/a,b}'],
  ['{**,b}'],
  ['{,a}'],
  ['{}'],
  ['a{}'],
  ['{a'],
  ['a,b'],
  ['[ab]'],
  ['[!ab]'],
  ['[^a]*'],
  ['[]a]'],
  ['[a-]*'],
  ['[a-b-z]'],
  ['[b-a]'],
  ['[a'],
  ['a[/]a'],
  ['a[!x]a'],
  ['?'],
  ['??'],
  ['ä'],
  ['[ä]'],
  ['[ä][ä]'],
  ['\\*'],
  ['\\{a\\}'],
  ['\\'],
  ['a\\'],
  ['\\!a'],
  ['#a'],
  ['\\#a'],
  ['!'],
  ['/'],
  ['//a'],
  ['a//a'],
  [' a '],
  [' a\\ '],
  ['.a'],
  ['.*'],
  ['*'],
  ['.git'],
  ['.git/**'],
  ['*.ts', '!a.ts'],
  ['!a.ts', '*.ts'],
  ['!*', 'a'],
  ['*', '!a', 'a/a'],
  ['!a', 'a/**'],
];

/** Pieces that make globs with a meaning, and some without. Braces in braces are refused by older versions of ripgrep. */
const PIECES = [
  'a',
  'b',
  '.',
  '/',
  '/',
  '*',
  '**',
  '**/',
  '/**',
  '?',
  '[ab]',
  '[!a]',
  '{a,b}',
  '{a*,b/}',
  '\\*',
  'ä',
  '-',
];

function randomGlobs(random: () => number): string[] {
  const below = (limit: number): number => Math.floor(random() * limit);
  return Array.from({ length: 1 + below(2) }, () => {
    const pieces = Array.from({ length: 1 + below(5) }, () => PIECES[below(PIECES.length)]);
    return (below(4) === 0 ? '!' : '') + pieces.join('');
  });
}

describe('globs mean the same with ripgrep and without', () => {
  test('those that somebody chose', async () => {
    expect(trustedProgram('rg')).not.toBeNull();
    using bench = benchDirectory();
    plant((name) => bench.at(name));
    const requests = CHOSEN.flatMap((globs) => [{ globs }, { globs, hidden: true }]);
    expect(await differences(bench.at(), requests)).toEqual([]);
  });

  test('those that chance made', { timeout: LIMIT_MS }, async () => {
    using bench = benchDirectory();
    plant((name) => bench.at(name));
    const random = seededRandom(1);
    const requests = Array.from({ length: 150 }, () => ({ globs: randomGlobs(random) }));
    expect(await differences(bench.at(), requests)).toEqual([]);
  });
});
