import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DirectoryEntry, FileSystem } from '../../src/contract/index.js';
import { copyTree } from '../../src/copy/copy-tree.js';
import { LocalFileSystem } from '../../src/host/files/local-file-system.js';
import { execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { treeJob } from '../harness/copy-jobs.js';
import { TestFolder } from '../harness/processes.js';

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(() => server.stop());

const time = { modifiedAtUs: 5_000_000 };

function linkEntry(name: string, target: string): DirectoryEntry {
  const link = { target: Buffer.from(target), ...time };
  const kind = { isDirectory: true, isFile: false, isSymlink: true, size: 0, mode: 0o755, ...time };
  return { name, path: `/far/${name}`, ...kind, link };
}

function directoryEntry(name: string): DirectoryEntry {
  const kind = { isDirectory: true, isFile: false, isSymlink: false, size: 0, mode: 0o755, ...time };
  return { name, path: `/far/${name}`, ...kind };
}

function fileEntry(name: string): DirectoryEntry {
  const kind = { isDirectory: false, isFile: true, isSymlink: false, size: 4, mode: 0o644, ...time };
  return { name: basename(name), path: `/far/${name}`, ...kind };
}

/** A machine that lists what it likes. Every directory below has one file, "victim". */
function liar(entries: readonly DirectoryEntry[]): FileSystem {
  const files: Partial<FileSystem> = {
    readDirectory: async (path) =>
      path === '/far' ? entries : [fileEntry(`${path.slice('/far/'.length)}/victim`)],
    readFile: async () => Buffer.from('evil'),
  };
  return files as FileSystem;
}

/** This machine's files, if small and capital letters were the same, and directories took their time. */
function foldingFiles(root: string): FileSystem {
  const fold = (path: string): string => {
    if (path === root || !path.startsWith(`${root}/`)) return path;
    const parent = fold(dirname(path));
    const name = basename(path);
    const there = exists(parent) ? readdirSync(parent) : [];
    return join(parent, there.find((each) => each.toLowerCase() === name.toLowerCase()) ?? name);
  };
  return new Proxy(new LocalFileSystem(), {
    get: (target, property) => {
      const method = Reflect.get(target, property) as unknown;
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]): Promise<unknown> => {
        if (property === 'createDirectory') for (let turn = 0; turn < 50; turn += 1) await nextTurn();
        const count = property === 'rename' ? 2 : 1;
        const folded = args.map((arg, index) => (index < count ? fold(String(arg)) : arg));
        return await (Reflect.apply(method, target, folded) as unknown);
      };
    },
  });
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

describe('a machine that lists a link and something below it', () => {
  const attacks: [string, (outside: string) => DirectoryEntry[]][] = [
    ['the same name, the link first', (outside) => [linkEntry('x', outside), directoryEntry('x')]],
    ['the same name, the link last', (outside) => [directoryEntry('x'), linkEntry('x', outside)]],
    ['the same name for a file', (outside) => [linkEntry('x', `${outside}/victim`), fileEntry('x')]],
    ['names that differ in case', (outside) => [linkEntry('X', outside), directoryEntry('x')]],
    [
      'names that differ in case, for a file',
      (outside) => [linkEntry('X', `${outside}/victim`), fileEntry('x')],
    ],
  ];
  const cases = attacks.flatMap(([how, entries]) =>
    [undefined, 'far'].map((machine) => ({ how, entries, machine: machine ?? 'here' })),
  );
  test.each(cases)('under $how writes nothing outside ($machine)', async ({ entries, machine }) => {
    using folder = new TestFolder();
    const outside = folder.file('outside');
    mkdirSync(outside);
    writeFileSync(`${outside}/victim`, 'untouched');
    const files = foldingFiles(folder.file('into'));
    const to = { files, path: folder.file('into'), isFree: true, ...(machine === 'here' ? {} : { machine }) };
    await copyTree({ files: liar(entries(outside)), path: '/far', ...time }, to, treeJob()).catch(
      () => undefined,
    );
    expect(readFileSync(`${outside}/victim`, 'utf8')).toBe('untouched');
    expect(readdirSync(outside)).toEqual(['victim']);
  });
});

describe('a link an earlier copy has made', () => {
  test.each(['up', 'down'])('is not written through by the next one, %s', async (direction) => {
    using folder = new TestFolder();
    const at = (path: string): string => folder.file(path);
    const copy = (from: string, to: string): string[] =>
      direction === 'up'
        ? ['cp', at(from), `${server.url}:${at(to)}`]
        : ['cp', `${server.url}:${at(from)}`, at(to)];
    for (const name of ['outside', 'first', 'copy']) mkdirSync(at(name), { recursive: true });
    writeFileSync(at('outside/victim'), 'untouched');
    symlinkSync(at('outside'), at('first/x'));
    symlinkSync(at('outside/victim'), at('first/y'));
    expect((await execwire(copy('first', 'copy'))).code).toBe(0);
    expect(readlinkSync(at('copy/first/x'))).toBe(at('outside'));
    // The same tree has become another one: a directory and a file where the links were.
    mkdirSync(at('second/first'), { recursive: true });
    mkdirSync(at('second/first/x'));
    writeFileSync(at('second/first/x/victim'), 'evil');
    const refused = await execwire(copy('second/first', 'copy'));
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is a link where the directory should go'),
    });
    mkdirSync(at('third/first'), { recursive: true });
    writeFileSync(at('third/first/y'), 'evil');
    expect((await execwire(copy('third/first', 'copy'))).code).toBe(0);
    expect(lstatSync(at('copy/first/y')).isFile()).toBe(true);
    expect(readFileSync(at('outside/victim'), 'utf8')).toBe('untouched');
    expect(readdirSync(at('outside'))).toEqual(['victim']);
  });

  test.each(['up', 'down'])('at the place that was named is not entered either, %s', async (direction) => {
    using folder = new TestFolder();
    const at = (path: string): string => folder.file(path);
    const copy = (from: string, to: string): string[] =>
      direction === 'up'
        ? ['cp', at(from), `${server.url}:${at(to)}`]
        : ['cp', `${server.url}:${at(from)}`, at(to)];
    for (const name of ['outside', 'one', 'two/x', 'copy']) mkdirSync(at(name), { recursive: true });
    writeFileSync(at('outside/victim'), 'untouched');
    writeFileSync(at('two/x/victim'), 'evil');
    symlinkSync(at('outside'), at('one/x'));
    expect((await execwire(copy('one/x', 'copy'))).code).toBe(0);
    expect(readlinkSync(at('copy/x'))).toBe(at('outside'));
    expect((await execwire(copy('two/x', 'copy'))).code).toBe(1);
    expect(readFileSync(at('outside/victim'), 'utf8')).toBe('untouched');
  });
});
