import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RemoteEnvironment, dialWebSocket } from '../src/client/index.js';
import { codeOf, type OpenFileSystem, prepare } from '../test/contract/file-bench.js';
import { sharedCodex } from './harness/shared-codex.js';

// The whole contract asks for more than the real server tells: it answers most refusals with the same number and has
// no names for them. What our client needs of it is here. Every path lies in a directory made for the case.
describe('our client and the files behind the real server', () => {
  const codex = sharedCodex();

  const open: OpenFileSystem = () =>
    RemoteEnvironment.connect({ id: 'codex', dial: () => dialWebSocket(codex.url), resume: true });

  test('content goes in and comes out, every byte of it', async () => {
    await using bench = await prepare(open);
    const all = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    await bench.files.writeFile(bench.at('all bytes'), all);
    expect(Buffer.from(await bench.files.readFile(bench.at('all bytes')))).toEqual(all);
    await bench.files.writeFile(bench.at('all bytes'), '');
    expect(await bench.files.readFile(bench.at('all bytes'))).toHaveLength(0);
  });

  test('a file larger than one message travels in blocks', async () => {
    await using bench = await prepare(open);
    const large = Buffer.alloc(33 * 1024 * 1024, 'large ');
    await bench.files.writeFile(bench.at('large'), large);
    expect(readFileSync(bench.at('large')).equals(large)).toBe(true);
    expect(Buffer.from(await bench.files.readFile(bench.at('large'))).equals(large)).toBe(true);
  });

  test('what is missing has its own code', async () => {
    await using bench = await prepare(open);
    const { files } = bench;
    expect(await codeOf(files.readFile(bench.at('missing')))).toBe('notFound');
    expect(await codeOf(files.getMetadata(bench.at('missing')))).toBe('notFound');
    expect(await codeOf(files.writeFile(bench.at('no/file'), ''))).toBe('notFound');
    expect(await codeOf(files.open(bench.at('missing')))).toBe('notFound');
    expect(await codeOf(files.readFile('relative'))).toBe('invalidPath');
  });

  test('directories, metadata, listings and walks', async () => {
    await using bench = await prepare(open);
    const { files } = bench;
    await files.createDirectory(bench.at('a/b c'));
    writeFileSync(bench.at('a/b c/file'), '1234');
    symlinkSync('a', bench.at('link'));
    expect(await files.getMetadata(bench.at('a/b c/file'))).toMatchObject({ isFile: true, size: 4 });
    expect(await files.getMetadata(bench.at('link'))).toMatchObject({ isDirectory: true, isSymlink: true });
    expect(await files.canonicalize(bench.at('link/b c'))).toBe(bench.at('a/b c'));
    const listed = await files.readDirectory(bench.at());
    expect(new Map(listed.map(({ name, path }) => [name, path]))).toEqual(
      new Map([
        ['a', bench.at('a')],
        ['link', bench.at('link')],
      ]),
    );
    expect(await files.walk(bench.at())).toEqual({
      entries: [
        { path: bench.at('a'), kind: 'directory' },
        { path: bench.at('a/b c'), kind: 'directory' },
        { path: bench.at('a/b c/file'), kind: 'file' },
      ],
      errors: [],
      truncated: false,
    });
  });

  test('handles read and write blocks anywhere', async () => {
    await using bench = await prepare(open);
    await using writer = await bench.files.open(bench.at('file'), { mode: 'replace' });
    await writer.write(6, Buffer.from('end'));
    await writer.write(0, Buffer.from('abc'));
    await writer.close();
    await using reader = await bench.files.open(bench.at('file'));
    const { bytes, eof } = await reader.read(2, 100);
    expect([Buffer.from(bytes).toString(), eof]).toEqual(['c\0\0\0end', true]);
  });

  test('copies and removals stay where they were asked for', async () => {
    await using bench = await prepare(open);
    const { files } = bench;
    mkdirSync(bench.at('from/sub'), { recursive: true });
    writeFileSync(bench.at('from/sub/file'), 'content');
    symlinkSync('from', bench.at('link'));
    await files.copy(bench.at('from'), bench.at('to'), { recursive: true });
    expect(readFileSync(bench.at('to/sub/file'), 'utf8')).toBe('content');
    await files.remove(bench.at('link'));
    await files.remove(bench.at('to'));
    await files.remove(bench.at('to'));
    expect((await files.readDirectory(bench.at())).map(({ name }) => name)).toEqual(['from']);
    expect(await codeOf(files.remove(bench.at('to'), { force: false }))).toBe('notFound');
  });

  test('a missing path is waited for', async () => {
    await using bench = await prepare(open);
    const watch = await bench.files.watchMissing([bench.at('later')]);
    if (!watch) throw new Error('nothing to wait for');
    writeFileSync(bench.at('later'), '');
    await watch.changed;
    expect(await bench.files.watchMissing([bench.at('later')])).toBeNull();
  });

  test('what it does not have is refused on our side', async () => {
    await using bench = await prepare(open);
    const { files } = bench;
    writeFileSync(bench.at('file'), '');
    expect(await codeOf(files.rename(bench.at('file'), bench.at('x')))).toBe('unsupported');
    expect(await codeOf(files.writeFile(bench.at('file'), '', { atomic: true }))).toBe('unsupported');
    expect(await codeOf(files.readDirectory(bench.at(), { details: true }))).toBe('unsupported');
    expect(await codeOf(files.watch(bench.at()))).toBe('unsupported');
  });
});
