import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LocalFileSystem } from '../../src/host/files/local-file-system.js';
import { fileHandlers } from '../../src/server/handlers/files-handlers.js';
import { createCaller, recordingContext } from './call-handler.js';

const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const NOT_FOUND = -32004;

let directory: string;
let uri: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'execwire-wire-'));
  uri = `file://${directory}`;
  writeFileSync(join(directory, 'file'), 'hi');
  mkdirSync(join(directory, 'dir/sub'), { recursive: true });
  symlinkSync('file', join(directory, 'link'));
  execFileSync('mkfifo', [join(directory, 'fifo')]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function connect() {
  const context = recordingContext();
  const call = createCaller(fileHandlers({ ...context, files: new LocalFileSystem() }));
  return { call, context, [Symbol.dispose]: () => context[Symbol.dispose]() };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('file methods on the wire', () => {
  test('paths are URIs, and each kind of bad one has its number', async () => {
    using wire = connect();
    const canonical = (path: string) => wire.call('fs/canonicalize', { path });
    for (const path of ['/etc', 'etc', '', 'http://a/b', 'file:///a?x', 'file:///a#x', 'file:///a%00'])
      expect(await canonical(path)).toBe(INVALID_PARAMS);
    for (const path of ['file://u@localhost/etc', 'file://localhost:80/etc', 'file:///usr?', 'file:///usr#'])
      expect(await canonical(path)).toBe(INVALID_PARAMS);
    for (const path of ['file://other/etc', 'file:///C:/x', 'file:///c:/x', 'file://127.0.0.1/etc'])
      expect(await canonical(path)).toBe(INVALID_REQUEST);
    for (const path of ['file:usr', 'file:/usr/', 'FILE:///usr//', 'file://LOCALHOST/usr', 'file:\\usr'])
      expect(await canonical(path)).toEqual({ path: 'file:///usr' });
    for (const path of [
      'file:///x/%2e%2e/usr',
      'file:///x%2F..%2Fusr',
      ' file:///u%73r ',
      'file:///x/../usr',
    ])
      expect(await canonical(path)).toEqual({ path: 'file:///usr' });
    expect(await canonical('file:///')).toEqual({ path: 'file:///' });
  });

  test('files are read and written as base64', async () => {
    using wire = connect();
    const path = `${uri}/written%20file`;
    expect(await wire.call('fs/writeFile', { path, dataBase64: base64('data') })).toEqual({});
    expect(readFileSync(join(directory, 'written file'), 'utf8')).toBe('data');
    expect(await wire.call('fs/readFile', { path })).toEqual({ dataBase64: base64('data') });
    for (const dataBase64 of ['!!', 'aGk', 'aGk=\n', 'a_k=', 'aGl=', 'aGk=aGk=', '====', ' aGk='])
      expect(await wire.call('fs/writeFile', { path, dataBase64 })).toBe(INVALID_REQUEST);
    expect(await wire.call('fs/writeFile', { path, dataBase64: '', atomic: true, sandbox: null })).toEqual(
      {},
    );
    expect(await wire.call('fs/readFile', { path })).toEqual({ dataBase64: '' });
  });

  test('errors have the peer’s numbers', async () => {
    using wire = connect();
    const read = (name: string) => wire.call('fs/readFile', { path: `${uri}/${name}` });
    expect(await read('missing')).toBe(NOT_FOUND);
    expect(await read('dir')).toBe(INVALID_REQUEST);
    expect(await read('fifo')).toBe(INVALID_REQUEST);
    expect(await read('file/below')).toBe(INTERNAL);
    const write = (name: string) => wire.call('fs/writeFile', { path: `${uri}/${name}`, dataBase64: '' });
    expect(await write('no/file')).toBe(NOT_FOUND);
    expect(await write('dir')).toBe(INTERNAL);
    const metadata = (name: string) =>
      wire.call('fs/getMetadata', { path: `${uri}/${name}`, followSymlinks: false });
    expect(await metadata('link')).toBe(INVALID_REQUEST);
    expect(await metadata('link/below')).toBe(INTERNAL);
    const create = (name: string) =>
      wire.call('fs/createDirectory', { path: `${uri}/${name}`, recursive: false });
    expect(await create('dir')).toBe(INTERNAL);
    expect(await create('no/dir')).toBe(NOT_FOUND);
    const remove = { force: false, recursive: false };
    expect(await wire.call('fs/remove', { path: `${uri}/missing`, ...remove })).toBe(NOT_FOUND);
    expect(await wire.call('fs/remove', { path: `${uri}/dir`, ...remove })).toBe(INTERNAL);
    const copy = (from: string, to: string, recursive: boolean) =>
      wire.call('fs/copy', { sourcePath: `${uri}/${from}`, destinationPath: `${uri}/${to}`, recursive });
    expect(await copy('dir', 'dir2', false)).toBe(INVALID_REQUEST);
    expect(await copy('dir', 'dir/sub/x', true)).toBe(INVALID_REQUEST);
    expect(await copy('fifo', 'x', false)).toBe(INVALID_REQUEST);
    expect(await copy('file', 'dir', false)).toBe(INTERNAL);
    expect(await copy('missing', 'x', false)).toBe(NOT_FOUND);
    const options = { maxDepth: 65, maxDirectories: 1, maxEntries: 1, followDirectorySymlinks: false };
    expect(await wire.call('fs/walk', { path: uri, options })).toBe(INVALID_REQUEST);
  });

  test('listings carry names, and a path only where the name is not enough', async () => {
    using wire = connect();
    mkdirSync(join(directory, 'names'));
    writeFileSync(join(directory, 'names/plain'), '');
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/names/`), Buffer.of(0xff)]), '');
    const listed = await wire.call('fs/readDirectory', { path: `${uri}/names` });
    const entries = typeof listed === 'number' ? [] : listed.entries;
    expect(new Set(entries.map((entry) => JSON.stringify(entry)))).toEqual(
      new Set([
        JSON.stringify({ fileName: 'plain', isDirectory: false, isFile: true }),
        JSON.stringify({ fileName: '\ufffd', isDirectory: false, isFile: true, path: `${uri}/names/%FF` }),
      ]),
    );
    const options = { maxDepth: 0, maxDirectories: 1, maxEntries: 9, followDirectorySymlinks: false };
    expect(await wire.call('fs/walk', { path: `${uri}/names`, options })).toEqual({
      entries: [
        { path: `${uri}/names/plain`, kind: 'file' },
        { path: `${uri}/names/%FF`, kind: 'file' },
      ],
      errors: [],
      truncated: false,
    });
  });

  test('handles belong to the connection, with limits on their number, names and blocks', async () => {
    using wire = connect();
    const open = (handleId: string) => wire.call('fs/open', { handleId, path: `${uri}/file` });
    const read = (handleId: string, len: number) => wire.call('fs/readBlock', { handleId, offset: 0, len });
    expect(await open('a')).toEqual({ handleId: 'a' });
    expect(await open('a')).toBe(INVALID_REQUEST);
    expect(await open('')).toEqual({ handleId: '' });
    expect(await open('x'.repeat(33))).toBe(INVALID_REQUEST);
    expect(await open('é'.repeat(16))).toEqual({ handleId: 'é'.repeat(16) });
    expect(await read('a', 5)).toEqual({ chunk: base64('hi'), eof: true });
    expect(await read('a', 2)).toEqual({ chunk: base64('hi'), eof: false });
    for (const len of [0, 1_048_577]) expect(await read('a', len)).toBe(INVALID_REQUEST);
    expect(await read('nobody', 1)).toBe(NOT_FOUND);
    expect(await wire.call('fs/close', { handleId: 'a' })).toEqual({});
    expect(await wire.call('fs/close', { handleId: 'a' })).toEqual({});
    expect(await read('a', 1)).toBe(NOT_FOUND);
    for (let count = 2; count < 128; count++)
      expect(await open(`n${count}`)).toEqual({ handleId: `n${count}` });
    expect(await open('one too many')).toBe(INVALID_REQUEST);
  });

  test('blocks are written anywhere, and a read that fails closes its handle', async () => {
    using wire = connect();
    const handleId = 'w';
    const mode = 'replace' as const;
    expect(await wire.call('fs/open', { handleId, path: `${uri}/blocks`, mode })).toEqual({ handleId });
    const write = (offset: number, chunk: string) => wire.call('fs/writeBlock', { handleId, offset, chunk });
    expect(await write(3, base64('def'))).toEqual({});
    expect(await write(0, base64('abc'))).toEqual({});
    expect(await write(0, '')).toBe(INVALID_REQUEST);
    expect(await write(0, '!')).toBe(INVALID_PARAMS);
    expect(await write(0, Buffer.alloc(1_048_577).toString('base64'))).toBe(INVALID_REQUEST);
    expect(await write(2 ** 60, base64('x'))).toBe(INVALID_REQUEST);
    expect(readFileSync(join(directory, 'blocks'), 'utf8')).toBe('abcdef');
    expect(await wire.call('fs/readBlock', { handleId, offset: 0, len: 1 })).toBe(INTERNAL);
    expect(await wire.call('fs/readBlock', { handleId, offset: 0, len: 1 })).toBe(NOT_FOUND);
    expect(await wire.call('fs/open', { handleId: 'd', path: `${uri}/dir` })).toBe(INVALID_REQUEST);
    expect(await wire.call('fs/open', { handleId: 'd', path: `${uri}/dir`, mode })).toBe(INTERNAL);
  });

  test('the end of the connection closes its files', async () => {
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    const wire = connect();
    for (let index = 0; index < 50; index++)
      await wire.call('fs/open', { handleId: `h${index}`, path: `${uri}/file` });
    expect(open()).toBeGreaterThanOrEqual(before + 50);
    wire[Symbol.dispose]();
    // Closing goes through the thread pool; the handles are gone when a later operation of each thread is done.
    for (let round = 0; open() >= before + 50 && round < 1000; round++)
      await wire.call('fs/canonicalize', { path: uri });
    expect(open()).toBeLessThan(before + 50);
  });
});

describe('watches on the wire', () => {
  test('a wait for missing paths fires once, and a newer one replaces it', async () => {
    using wire = connect();
    const watch = (watchId: number, ...names: string[]) =>
      wire.call('fs/watchMissing', { watchId, missing: names.map((name) => `${uri}/${name}`) });
    expect(await watch(0, 'soon')).toEqual({ watching: false });
    expect(await wire.call('fs/watchMissing', { watchId: 1, missing: ['bad'] })).toBe(INVALID_PARAMS);
    expect(await watch(1, 'never')).toEqual({ watching: true });
    expect(await watch(1, 'never')).toEqual({ watching: false });
    expect(await watch(2, 'file')).toEqual({ watching: false });
    expect(await watch(3, 'soon/deeper')).toEqual({ watching: true });
    mkdirSync(join(directory, 'never'));
    mkdirSync(join(directory, 'soon'));
    await wire.context.waitFor(({ method }) => method === 'fs/missingChanged');
    expect(wire.context.sent).toEqual([{ method: 'fs/missingChanged', params: { watchId: 3 } }]);
  });

  test('changes are reported until unwatched', async () => {
    using wire = connect();
    const path = `${uri}/watched`;
    const watch = () => wire.call('fs/watch', { watchId: 'w', path });
    expect(await watch()).toEqual({ path });
    expect(await watch()).toBe(INVALID_REQUEST);
    writeFileSync(join(directory, 'watched'), '');
    const change = await wire.context.waitFor(({ method }) => method === 'fs/changed');
    expect(change).toEqual({ watchId: 'w', changes: [{ path, kind: 'changed' }], overflow: false });
    expect(await wire.call('fs/unwatch', { watchId: 'w' })).toEqual({});
    expect(await wire.call('fs/unwatch', { watchId: 'w' })).toEqual({});
    expect(await watch()).toEqual({ path });
    expect(await wire.call('fs/watch', { watchId: 'n', path: `${uri}/no/such` })).toBe(NOT_FOUND);
  });

  test('while the connection is full, changes are merged', async () => {
    using wire = connect();
    let release = (): void => undefined;
    wire.context.hold = () => new Promise((resolve) => (release = resolve));
    await wire.call('fs/watch', { watchId: 'w', path: `${uri}/dir` });
    writeFileSync(join(directory, 'dir/first'), '');
    await wire.context.waitFor(() => true);
    for (let round = 0; round < 200; round++) writeFileSync(join(directory, 'dir/again'), String(round));
    // Seen by another watch of the same directory, so the events are in.
    using other = connect();
    await other.call('fs/watch', { watchId: 'w', path: `${uri}/dir` });
    writeFileSync(join(directory, 'dir/marker'), '');
    await other.context.waitFor(() => true);
    expect(wire.context.sent).toHaveLength(1);
    release();
    await wire.context.waitFor(({ params }) => JSON.stringify(params).includes('dir/again'));
    expect(wire.context.sent.length).toBeLessThan(5);
  });

  test('search answers with URIs', async () => {
    using wire = connect();
    writeFileSync(join(directory, 'dir/sub/text file'), 'needle');
    const page = await wire.call('fs/search', { path: `${uri}/dir/sub`, pattern: 'needle' });
    const match = { path: `${uri}/dir/sub/text%20file`, line: 1, column: 1, text: 'needle', cut: false };
    expect(page).toEqual({ matches: [match], cursor: null });
    expect(await wire.call('fs/search', { path: uri, pattern: '(', regex: true })).toBe(INVALID_PARAMS);
  });
});
