import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parseLocation } from '../../src/cli/options/copy-location.js';
import { nameTest } from '../../src/copy/name-pattern.js';
import { execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

// Each test starts several programs, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

let server: ServerProcess;
const home = new TestFolder();
beforeAll(async () => {
  server = await ServerProcess.start({ wrapper: ['env', `HOME=${home.path}`] });
});
afterAll(async () => {
  await server.stop();
  home[Symbol.dispose]();
});

const there = (path: string): string => `${server.url}:${path}`;

describe('places', () => {
  test.each([
    ['box:', 'box', ''],
    ['box:~/x', 'box', '~/x'],
    ['ws://host:1:x/y', 'ws://host:1', 'x/y'],
    ['ws://host:1:', 'ws://host:1', ''],
    ['ws://host:1/a:x', 'ws://host:1/a', 'x'],
    ['ws://host:1:/x', 'ws://host:1', '/x'],
    ['ws://host:x', 'ws://host', 'x'],
    ['wss://[::1]:1:x', 'wss://[::1]:1', 'x'],
    ['unix:///run/s:x', 'unix:///run/s', 'x'],
    ['./a:b', 'local', './a:b'],
  ])('%s', (text, target, path) => {
    expect(parseLocation(text)).toEqual({ kind: 'path', target, path });
  });

  test.each(['ws://host:1', 'ws://host', 'ws://host:1/a', 'unix:///run/s'])('%s is none', (text) => {
    expect(() => parseLocation(text)).toThrow('A path must follow the address');
  });
});

describe('patterns', () => {
  test.each([
    ['*.log', ['a.log', '.log', 'a.txt'], ['a.log']],
    ['.*', ['.a', 'a'], ['.a']],
    ['a?c', ['abc', 'ac', 'aéc', 'a😀c'], ['abc', 'aéc', 'a😀c']],
    ['[a-c]x', ['ax', 'dx'], ['ax']],
    ['[!a-c]x', ['ax', 'dx'], ['dx']],
    ['[]]', [']', 'a'], [']']],
    ['a\\*', ['a*', 'ab'], ['a*']],
    ['*a*b', ['xaxbxab', 'ba'], ['xaxbxab']],
    ['[', ['[', 'a'], ['[']],
  ])('%s', (pattern, names, expected) => {
    expect(names.filter(nameTest(pattern))).toEqual(expected);
  });

  test('a hostile one takes no time', () => {
    const began = performance.now();
    expect(nameTest(`${'*a'.repeat(100)}b`)('a'.repeat(255))).toBe(false);
    expect(performance.now() - began).toBeLessThan(1000);
  });
});

describe('cp', () => {
  test('several sources go into a directory, with the flags people are used to', async () => {
    using folder = new TestFolder();
    for (const name of ['one', 'two', 'three']) writeFileSync(folder.file(name), name);
    mkdirSync(folder.file('into'));
    const sources = ['one', 'two', 'three'].map((name) => folder.file(name));
    const { code, stdout, stderr } = await execwire([
      'cp',
      '-r',
      '-a',
      '-p',
      '-v',
      ...sources,
      there(folder.file('into')),
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').sort()).toEqual([
      '',
      ...['one', 'three', 'two'].map((name) => folder.file(`into/${name}`)),
    ]);
    expect(readdirSync(folder.file('into')).sort()).toEqual(['one', 'three', 'two']);
    const refused = await execwire(['cp', ...sources, there(folder.file('elsewhere'))]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'execwire: With several sources, the destination must be an existing directory.\n',
    ]);
    expect(existsSync(folder.file('elsewhere'))).toBe(false);
  });

  test('wildcards, ~ and relative paths are meant on the other machine', async () => {
    using folder = new TestFolder();
    mkdirSync(`${home.path}/logs/deep`, { recursive: true });
    for (const name of ['a.log', 'b.log', 'c.txt', 'deep/d.log'])
      writeFileSync(`${home.path}/logs/${name}`, name);
    const copies: [string, string[]][] = [
      ['logs/*.log', ['a.log', 'b.log']],
      ['~/logs/?.txt', ['c.txt']],
      [`${home.path}/l*/*/*.log`, ['d.log']],
      ['l*/deep/d.log', ['d.log']],
    ];
    for (const [pattern, names] of copies) {
      const into = folder.file(`into-${copies.findIndex(([each]) => each === pattern)}`);
      mkdirSync(into);
      expect(await execwire(['cp', there(pattern), into])).toEqual({ code: 0, stdout: '', stderr: '' });
      expect(readdirSync(into).sort()).toEqual(names);
    }
    // A file that has the name of a pattern is meant by it.
    writeFileSync(`${home.path}/[x]`, 'literal');
    expect((await execwire(['cp', there('[x]'), '-'])).stdout).toBe('literal');
    const nothing = await execwire(['cp', there('*.none'), folder.path]);
    expect([nothing.code, nothing.stderr]).toEqual([
      1,
      expect.stringContaining('Nothing matches this pattern.'),
    ]);
    const home2 = await execwire(['cp', folder.file('into-0/a.log'), there('')]);
    expect(home2.code).toBe(0);
    expect(existsSync(`${home.path}/a.log`)).toBe(true);
  });

  test('-n leaves alone what is there, in trees as well', async () => {
    using folder = new TestFolder();
    mkdirSync(folder.file('from/below'), { recursive: true });
    mkdirSync(folder.file('to/from/below'), { recursive: true });
    for (const name of ['a', 'below/b']) {
      writeFileSync(folder.file(`from/${name}`), 'new');
      writeFileSync(folder.file(`to/from/${name}`), 'old');
    }
    writeFileSync(folder.file('from/below/c'), 'new');
    for (const source of [folder.file('from'), there(folder.file('from')), folder.file('from/a')]) {
      const into = source.endsWith('/a') ? folder.file('to/from') : folder.file('to');
      expect((await execwire(['cp', '-n', source, there(into)])).code).toBe(0);
    }
    const contents = ['a', 'below/b', 'below/c'].map((name) =>
      readFileSync(folder.file(`to/from/${name}`), 'utf8'),
    );
    expect(contents).toEqual(['old', 'old', 'new']);
  });

  test('a node_modules tree still works after it', async () => {
    using folder = new TestFolder();
    mkdirSync(folder.file('app/node_modules/.bin'), { recursive: true });
    mkdirSync(folder.file('app/node_modules/tool/empty'), { recursive: true });
    writeFileSync(folder.file('app/node_modules/tool/cli.js'), '#!/bin/sh\necho works\n', { mode: 0o755 });
    symlinkSync('../tool/cli.js', folder.file('app/node_modules/.bin/tool'));
    utimesSync(folder.file('app/node_modules/tool/cli.js'), 1_000_000_000, 1_000_000_000);
    expect((await execwire(['cp', '-a', folder.file('app'), there(folder.file('copy'))])).code).toBe(0);
    expect(readlinkSync(folder.file('copy/node_modules/.bin/tool'))).toBe('../tool/cli.js');
    expect(execFileSync(folder.file('copy/node_modules/.bin/tool'), { encoding: 'utf8' })).toBe('works\n');
    expect(statSync(folder.file('copy/node_modules/tool/cli.js')).mtimeMs).toBe(1_000_000_000_000);
    expect(readdirSync(folder.file('copy/node_modules/tool/empty'))).toEqual([]);
  });

  test('what cannot be copied is listed, the rest is copied, and the exit code says so', async () => {
    using folder = new TestFolder();
    mkdirSync(folder.file('from/closed'), { recursive: true });
    for (const name of ['a', 'secret', 'z']) writeFileSync(folder.file(`from/${name}`), name);
    execFileSync('mkfifo', [folder.file('from/pipe')]);
    chmodSync(folder.file('from/secret'), 0);
    chmodSync(folder.file('from/closed'), 0);
    chmodSync(folder.path, 0o777);
    const isRoot = process.getuid?.() === 0;
    const wrapper = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', 'env', 'HOME=/'];
    const plain = await ServerProcess.start(isRoot ? { wrapper } : {});
    try {
      const { code, stderr } = await execwire([
        'cp',
        `${plain.url}:${folder.file('from')}`,
        folder.file('to'),
      ]);
      expect(code).toBe(1);
      const lines = stderr.trim().split('\n').sort();
      expect(lines).toEqual([
        expect.stringContaining(`left out ${folder.file('from/pipe')}: `),
        expect.stringMatching(/remote:.*from\/closed: Permission denied/),
        expect.stringMatching(/remote:.*from\/secret: Permission denied/),
      ]);
      expect(
        readdirSync(folder.file('to'))
          .filter((name) => name !== 'closed')
          .sort(),
      ).toEqual(['a', 'z']);
    } finally {
      await plain.stop();
      chmodSync(folder.file('from/closed'), 0o700);
    }
  });
});
