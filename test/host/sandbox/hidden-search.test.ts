import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compileGlob, findHidden, hostView } from '../../../src/host/sandbox/index.js';
import { type FilePolicy } from '../../../src/policy/internal.js';
import { findHiddenNow } from '../../../src/host/sandbox/plan/hidden-search.js';
import { TestFolder } from '../../harness/processes.js';
import { seededRandom } from '../../harness/random.js';

type Restricted = Extract<FilePolicy, { kind: 'restricted' }>;

function hiding(patterns: readonly string[], maxDepth = Number.POSITIVE_INFINITY): Restricted {
  return { kind: 'restricted', rules: [], hidden: patterns.map((pattern) => ({ pattern, maxDepth })) };
}

function put(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  return path;
}

/** Every path below the directory that a pattern matches, unless something above it is matched by the same pattern. */
function bruteForce(directory: string, { hidden }: Restricted): string[] {
  const all = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(directory, name),
  );
  const matches = new Set<string>();
  for (const { pattern, maxDepth } of hidden) {
    const glob = compileGlob(pattern);
    const levels = (path: string): number => path.slice(glob.base.length + 1).split('/').length;
    const isBelow = (path: string): boolean => path.startsWith(`${glob.base}/`);
    for (const path of all)
      if (isBelow(path) && levels(path) <= maxDepth && glob.matches(path)) matches.add(path);
  }
  return [...matches].filter((path) => ![...matches].some((above) => path.startsWith(`${above}/`))).sort();
}

/** Without what lies in something that is hidden as a whole. */
function outermost(found: readonly string[]): string[] {
  const all = [...new Set(found)];
  return all.filter((path) => !all.some((above) => path.startsWith(`${above}/`))).sort();
}

describe('searching for what patterns hide', () => {
  test('finds the same as trying every pattern on every path', async () => {
    using folder = new TestFolder();
    const random = seededRandom(5);
    const pick = (names: readonly string[]): string => names[Math.floor(random() * names.length)] ?? '';
    const names = ['a', 'b.env', 'c.pem', 'deep', 'x{y}', '.hidden', 'ä'];
    for (let count = 0; count < 300; count += 1) {
      const path = Array.from({ length: 1 + Math.floor(random() * 5) }, () => pick(names));
      try {
        put(folder.file(path.join('/')));
      } catch {
        // Something on the way is a file already.
      }
    }
    const patterns = [
      '**/*.env',
      '**/*.pem',
      'a/**',
      'deep/*/a',
      '*/.hidden',
      '**/{a,ä}/**/x*',
      'deep/**/[!a]',
    ];
    for (let round = 0; round < 40; round += 1) {
      const some = patterns.filter(() => random() < 0.4).map((pattern) => folder.file(pattern));
      const policy = hiding(some, 1 + Math.floor(random() * 5));
      const found = await findHidden(policy, hostView);
      expect(outermost(found)).toEqual(bruteForce(folder.path, policy));
      expect(findHiddenNow(policy.hidden, hostView)).toEqual(found);
    }
  });

  test('lets others have the event loop, however many ask at once', async () => {
    using folder = new TestFolder();
    for (let directory = 0; directory < 200; directory += 1) {
      mkdirSync(folder.file(`${directory}`));
      for (let file = 0; file < 40; file += 1) writeFileSync(folder.file(`${directory}/${file}`), '');
    }
    const files = hiding([folder.file('**/*.pem'), folder.file('**/7')]);
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const began = performance.now();
    const [first, ...others] = await Promise.all(
      Array.from({ length: 50 }, () => findHidden(files, hostView)),
    );
    const tookMs = performance.now() - began;
    isOver = true;
    // Of the directory with that name, only the directory.
    expect(first).toHaveLength(200);
    // One search for the first, and one for all others together.
    expect(new Set(others).size).toBe(1);
    expect(others[0]).toEqual(first);
    expect(turns).toBeGreaterThan(tookMs / 50);
  });

  test('tells everybody what is there after they ask', async () => {
    using folder = new TestFolder();
    for (let directory = 0; directory < 300; directory += 1) put(folder.file(`${directory}/file`));
    const files = hiding([folder.file('**/*.pem')]);
    const before = findHidden(files, hostView);
    const late = put(folder.file('late.pem'));
    expect(await findHidden(files, hostView)).toEqual([late]);
    await before;
    renameSync(late, folder.file('other'));
    expect(await findHidden(files, hostView)).toEqual([]);
  });

  test('does not look where nothing can match', async () => {
    using folder = new TestFolder();
    put(folder.file('secrets/key'));
    for (let directory = 0; directory < 200; directory += 1) put(folder.file(`other/${directory}/key`));
    const looked: string[] = [];
    const view = {
      ...hostView,
      reachBytes: (path: Buffer) => {
        looked.push(path.toString());
        return path;
      },
    };
    const found = await findHidden(hiding([folder.file('s*s/key'), folder.file('{se,x}/key')]), view);
    expect(found).toEqual([folder.file('secrets/key')]);
    rmSync(folder.file('secrets'), { recursive: true });
    expect(looked).toEqual([`${folder.path}/`, `${folder.path}/secrets/`]);
  });

  test('gives up on a tree that is too large, and starts anew', async () => {
    using folder = new TestFolder();
    const files = hiding([folder.file('**/*.pem')]);
    for (let file = 0; file < 600; file += 1) put(folder.file(`${file}.pem`));
    await expect(findHidden(files, hostView)).rejects.toMatchObject({ data: { reason: 'globTooBroad' } });
    await expect(
      Promise.all([findHidden(files, hostView), findHidden(files, hostView)]),
    ).rejects.toMatchObject({ data: { reason: 'globTooBroad' } });
    for (let file = 1; file < 600; file += 1) rmSync(folder.file(`${file}.pem`));
    expect(await findHidden(files, hostView)).toEqual([folder.file('0.pem')]);
  });
});
