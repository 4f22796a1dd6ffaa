import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { TestTools } from './harness.js';

describe('file tools', () => {
  test('write, read and read parts', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    const path = folder.file('deep/down/file.txt');
    const content = Array.from({ length: 5000 }, (_, index) => `line ${index + 1} 漢\n`).join('');
    const written = await tools.call('write_file', { path, content });
    expect(written.structured).toEqual({ path, bytes_written: Buffer.byteLength(content) });
    expect(readFileSync(path, 'utf8')).toBe(content);
    const part = await tools.call('read_file', { path, from: 4999 });
    expect(part.text).toBe('line 4999 漢\nline 5000 漢\n');
    expect(part.structured).toMatchObject({ first_line: 4999, last_line: 5000, total_lines: 5000 });
    const range = await tools.call('read_file', { path, from: 2, to: 3 });
    expect(range.text).toBe('line 2 漢\nline 3 漢\n');
    const cut = await tools.call('read_file', { path, max_output_tokens: 20 });
    expect(cut.text).toMatch(/^Warning: truncated content \(original token count: \d+\)\nline 1 漢\n/);
  });

  test('list, sorted and by kind', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    mkdirSync(folder.file('b'));
    writeFileSync(folder.file('c.txt'), 'abc');
    symlinkSync('nowhere', folder.file('a'));
    const listed = await tools.call('list_directory', { path: folder.path });
    expect(listed.text).toBe('a\nb/\nc.txt');
    expect(listed.structured).toEqual({
      path: folder.path,
      entries: [
        { name: 'a', kind: 'other', size: null },
        { name: 'b', kind: 'directory', size: null },
        { name: 'c.txt', kind: 'file', size: 3 },
      ],
      omitted: 0,
    });
  });

  test('search page by page', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    writeFileSync(folder.file('a.txt'), 'needle one\nhay\nneedle two\n');
    writeFileSync(folder.file('b.md'), `needle ${'x'.repeat(1000)}\n`);
    const first = await tools.call('search', { path: folder.path, pattern: 'needle', max_matches: 2 });
    expect(first.structured.matches).toEqual([
      { path: folder.file('a.txt'), line: 1, text: 'needle one' },
      { path: folder.file('a.txt'), line: 3, text: 'needle two' },
    ]);
    const { cursor } = first.structured;
    const next = await tools.call('search', { path: folder.path, pattern: 'needle', max_matches: 2, cursor });
    expect(next.text).toContain('more characters');
    const none = await tools.call('search', { path: folder.path, pattern: 'needle', globs: ['*.rs'] });
    expect(none.text).toBe('No matches.');
    const regex = await tools.call('search', { path: folder.path, pattern: 't[w]o$', regex: true });
    expect(regex.text).toBe(`${folder.file('a.txt')}:3:needle two`);
  });

  test('search shows paths as they were asked for', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    await tools.call('write_file', { path: folder.file('deep/a.txt'), content: 'needle\n' });
    const search = async (path: string) => (await tools.call('search', { path, pattern: 'needle' })).text;
    const below = relative(process.cwd(), folder.path);
    expect(await search(folder.path)).toBe(`${folder.file('deep/a.txt')}:1:needle`);
    expect(await search(below)).toBe(`${below}/deep/a.txt:1:needle`);
    expect(await search(`${below}/deep/a.txt`)).toBe(`${below}/deep/a.txt:1:needle`);
    const read = await tools.call('read_file', { path: `${below}/deep/a.txt` });
    expect(read.text).toBe('needle\n');
  });

  test('failures are sentences', async () => {
    await using tools = new TestTools();
    using folder = new TestFolder();
    writeFileSync(folder.file('binary'), Buffer.from([1, 0, 2]));
    expect(await tools.failure('read_file', { path: folder.file('binary') })).toContain('binary file');
    for (const name of ['read_file', 'list_directory'])
      expect(await tools.failure(name, { path: folder.file('missing') })).toMatch(/\w/);
    expect(await tools.failure('read_file', { path: folder.path })).toMatch(/\w/);
  });
});
