import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { parseLocation } from '../../src/cli/options/copy-location.js';
import { childPath } from '../../src/copy/listing.js';
import { copyTree } from '../../src/copy/copy-tree.js';
import type { FileSystem } from '../../src/contract/index.js';
import { LocalFileSystem } from '../../src/host/files/local-file-system.js';
import { isExecError } from '../../src/protocol/index.js';
import { CommandLine, execwire } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { treeJob } from '../harness/copy-jobs.js';
import { TestFolder } from '../harness/processes.js';

const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
/** Neither a whole number of blocks nor small. */
const LARGE = randomBytes(5 * 1024 * 1024 + 12_345);

let server: ServerProcess;
let other: ServerProcess;
beforeAll(async () => {
  [server, other] = await Promise.all([ServerProcess.start(), ServerProcess.start()]);
});
afterAll(async () => {
  await Promise.all([server.stop(), other.stop()]);
});

/** Everything below a folder, with content and permissions, in a form to compare. */
function listing(folder: string): string {
  const script = "find . -printf '%M %p\\n' | sort; find . -type f -exec sha256sum {} + | sort";
  return execFileSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' });
}

describe('cp', () => {
  test('files go both ways, by path, into directories and through stdin and stdout', async () => {
    using folder = new TestFolder();
    const at = (name: string): string => folder.file(name);
    writeFileSync(at('large'), LARGE);
    writeFileSync(at('tool'), '#!/bin/sh\n', { mode: 0o755 });
    mkdirSync(at('into'));
    const results = await Promise.all([
      execwire(['cp', at('large'), `${server.url}:${at('up')}`]),
      execwire(['cp', '-e', server.url, `:${at('large')}`, at('into')]),
      execwire(['cp', at('tool'), `${server.url}:${at('into')}`]),
      execwire(['cp', `${server.url}:${at('large')}`, `${other.url}:${at('across')}`]),
      execwire(['cp', '-', `${server.url}:${at('typed')}`], { input: LARGE }),
    ]);
    for (const result of results) expect(result).toEqual({ code: 0, stdout: '', stderr: '' });
    const copies = ['up', 'into/large', 'across', 'typed'].map((name) => sha(readFileSync(at(name))));
    expect(new Set(copies)).toEqual(new Set([sha(LARGE)]));
    expect(statSync(at('into/tool')).mode & 0o777).toBe(0o755);
    const shown = new CommandLine(['cp', `${server.url}:${at('large')}`, '-']);
    expect((await shown.result()).code).toBe(0);
    expect(sha(shown.bytes)).toBe(sha(LARGE));
  });

  test.each([0o600, 0o640])('what is private (%o) is so before there is anything in it', async (mode) => {
    using folder = new TestFolder();
    writeFileSync(folder.file('key'), Buffer.concat([LARGE, LARGE, LARGE]), { mode });
    mkdirSync(folder.file('there'));
    const copy = execwire(['cp', folder.file('key'), `${server.url}:${folder.file('there')}`]);
    const over = new AbortController();
    void copy.then(() => over.abort());
    const seen: number[] = [];
    while (!over.signal.aborted) {
      for (const name of readdirSync(folder.file('there'))) {
        const stat = statSync(folder.file(`there/${name}`), { throwIfNoEntry: false });
        if (stat && stat.size > 0) seen.push(stat.mode & 0o777);
      }
      await nextTurn();
    }
    expect((await copy).code).toBe(0);
    expect(new Set(seen)).toEqual(new Set([mode]));
  });

  test('a private file that is written from stdin stays private', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('key'), 'old', { mode: 0o600 });
    symlinkSync('key', folder.file('link'));
    for (const name of ['key', 'link']) {
      const place = `${server.url}:${folder.file(name)}`;
      expect(await execwire(['cp', '-', place], { input: name })).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
      expect(readFileSync(folder.file('key'), 'utf8')).toBe(name);
      expect(statSync(folder.file('key')).mode & 0o777).toBe(0o600);
    }
  });

  test('a link that leads nowhere gives way to the copy, here and there', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('file'), 'content');
    mkdirSync(folder.file('tree'));
    writeFileSync(folder.file('tree/file'), 'content');
    for (const machine of ['', `${server.url}:`]) {
      const into = folder.file(machine === '' ? 'here' : 'there');
      mkdirSync(`${into}/tree`, { recursive: true });
      symlinkSync('nowhere', `${into}/link`);
      symlinkSync('nowhere', `${into}/tree/file`);
      const source = machine === '' ? `${server.url}:` : '';
      for (const [from, to] of [
        ['file', `${into}/link`],
        ['tree', into],
      ]) {
        const result = await execwire(['cp', `${source}${folder.file(from ?? '')}`, `${machine}${to}`]);
        expect(result).toEqual({ code: 0, stdout: '', stderr: '' });
      }
      expect(readdirSync(into).sort()).toEqual(['link', 'tree']);
      expect(readdirSync(`${into}/tree`)).toEqual(['file']);
      expect(readFileSync(`${into}/link`, 'utf8')).toBe('content');
      expect(readFileSync(`${into}/tree/file`, 'utf8')).toBe('content');
    }
  });

  test('a directory goes with everything below it, odd names included', async () => {
    using folder = new TestFolder();
    const tree = folder.file('tree');
    mkdirSync(`${tree}/a/b c/empty`, { recursive: true });
    for (let index = 0; index < 30; index += 1) writeFileSync(`${tree}/a/file ${index}`, String(index));
    writeFileSync(`${tree}/a/b c/large`, LARGE);
    writeFileSync(`${tree}/run me`, '', { mode: 0o755 });
    writeFileSync(`${tree}/a/secret`, 'mine', { mode: 0o600 });
    mkdirSync(`${tree}/private`, { mode: 0o700 });
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0x25, 0x41])]), 'not UTF-8');
    const there = await execwire(['cp', tree, `${server.url}:${folder.file('there')}`]);
    expect(there).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(listing(folder.file('there'))).toBe(listing(tree));
    // The directory exists now: another copy goes into it.
    const again = await execwire(['cp', `${server.url}:${tree}`, folder.file('there')]);
    expect(again.code).toBe(0);
    expect(listing(folder.file('there/tree'))).toBe(listing(tree));
  });

  test('with -L, links and special files are not followed where that could go wrong, and are named', async () => {
    using folder = new TestFolder();
    const tree = folder.file('tree');
    mkdirSync(tree);
    writeFileSync(`${tree}/file`, 'content');
    symlinkSync('file', `${tree}/link`);
    symlinkSync('.', `${tree}/loop`);
    execFileSync('mkfifo', [`${tree}/fifo`]);
    const { code, stderr } = await execwire(['cp', '-L', tree, `${server.url}:${folder.file('copy')}`]);
    // What was left out is missing in the copy.
    expect(code).toBe(1);
    expect(stderr.split('\n').sort()).toEqual([
      '',
      `execwire: left out ${tree}/fifo: it is neither a file nor a directory`,
      `execwire: left out ${tree}/loop: it is a link to a directory`,
    ]);
    expect(readFileSync(folder.file('copy/link'), 'utf8')).toBe('content');
  });

  test('what cannot be copied is said', async () => {
    using folder = new TestFolder();
    const missing = await execwire(['cp', folder.file('missing'), `${server.url}:${folder.path}`]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(/^execwire: .+\n$/);
    expect((await execwire(['cp', '-', '-'])).code).toBe(2);
    mkdirSync(folder.file('tree'));
    writeFileSync(folder.file('tree/file'), LARGE);
    for (const [from, to] of [
      ['tree/file', 'tree'],
      ['tree', 'tree/below/it'],
    ]) {
      const onto = await execwire(['cp', folder.file(from ?? ''), `${server.url}:${folder.file(to ?? '')}`]);
      expect(onto).toMatchObject({ code: 1, stderr: expect.stringContaining('is the source') });
    }
    expect(sha(readFileSync(folder.file('tree/file')))).toBe(sha(LARGE));
  });
});

describe('places', () => {
  test('are read as people write them', () => {
    const target = (text: string): unknown => {
      const place = parseLocation(text, { environment: 'chosen' });
      return place.kind === 'stream' ? '-' : [place.target, place.path];
    };
    expect(target('-')).toBe('-');
    expect(target('a/b')).toEqual(['local', 'a/b']);
    expect(target('./a:b')).toEqual(['local', './a:b']);
    expect(target('/a:b')).toEqual(['local', '/a:b']);
    expect(target('box:/a:b')).toEqual(['box', '/a:b']);
    expect(target('box:a')).toEqual(['box', 'a']);
    expect(target(':a')).toEqual(['chosen', 'a']);
    expect(target('ws://host:1:/a')).toEqual(['ws://host:1', '/a']);
    expect(target('wss://host/path:/a:/b')).toEqual(['wss://host/path', '/a:/b']);
    expect(target('unix:///run/s.sock:/a')).toEqual(['unix:///run/s.sock', '/a']);
    const machine = 'https://host:1/cloud/environment/box';
    expect(target(`${machine}:/a`)).toEqual([machine, '/a']);
    expect(target(`${machine}:a`)).toEqual([machine, 'a']);
    expect(target('fleet:box:/a')).toEqual(['fleet:box', '/a']);
    expect(target('fleet:?pool=ci:a')).toEqual(['fleet:?pool=ci', 'a']);
  });

  test('a machine that makes directories slowly has them before there is anything in them', async () => {
    using folder = new TestFolder();
    mkdirSync(folder.file('from/below/deeper'), { recursive: true });
    writeFileSync(folder.file('from/below/small'), 'small');
    writeFileSync(folder.file('from/below/deeper/large'), LARGE);
    const files = new LocalFileSystem();
    class SlowDirectories extends LocalFileSystem {
      override async createDirectory(...args: Parameters<LocalFileSystem['createDirectory']>): Promise<void> {
        for (let turn = 0; turn < 100; turn += 1) await nextTurn();
        await super.createDirectory(...args);
      }
    }
    const into = { files: new SlowDirectories(), path: folder.file('into'), isFree: true };
    await copyTree(
      { files, path: folder.file('from') },
      into,
      treeJob({ writesAtomically: false, placesFiles: true, keepsLinksAndTimes: true }),
    );
    expect(listing(folder.file('into'))).toBe(listing(folder.file('from')));
  });

  test('a name from the other machine cannot lead out of the directory', async () => {
    for (const name of ['..', '.', '', '../x', '/etc', 'a\0b']) {
      expect(() => childPath('/dir', { name, path: `/far/${name}` })).toThrow('invalid name');
    }
    using folder = new TestFolder();
    const files = new LocalFileSystem();
    const liar = {
      readDirectory: async () => [
        { name: '../escaped', path: '/far/x', isDirectory: false, isFile: true, size: 1 },
      ],
    } as unknown as FileSystem;
    const outcome = await copyTree(
      { files: liar, path: '/far' },
      { files, path: folder.file('into') },
      treeJob({ writesAtomically: false, placesFiles: false, keepsLinksAndTimes: false }),
    ).catch((error: unknown) => isExecError(error, 'protocolViolation'));
    expect(outcome).toBe(true);
  });
});
