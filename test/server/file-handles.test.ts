import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LocalFileSystem } from '../../src/host/files/local-file-system.js';
import { fileUri } from '../../src/protocol/index.js';
import { BulkGarbage } from '../../src/server/bulk-garbage.js';
import { FileHandles } from '../../src/server/handlers/file-handles.js';
import { TestFolder } from '../harness/processes.js';

test('what waited while its connection ended empties no file', async () => {
  using folder = new TestFolder();
  writeFileSync(folder.file('file'), 'written since');
  const connection = new AbortController();
  const handles = new FileHandles(new LocalFileSystem(), connection.signal);
  connection.abort();
  const request = { handleId: 'h', path: fileUri(folder.file('file')), mode: 'replace' as const };
  await expect(handles.open(request)).rejects.toMatchObject({ code: 'connectionClosed' });
  expect(readFileSync(folder.file('file'), 'utf8')).toBe('written since');
});

/** The engine would notice such garbage late, and go through everything it has to find it. */
test.each(['as text', 'as bytes'])('the garbage of blocks that came %s is collected early', async (how) => {
  using folder = new TestFolder();
  let collections = 0;
  const garbage = new BulkGarbage(() => (collections += 1));
  const handles = new FileHandles(new LocalFileSystem(), new AbortController().signal, garbage);
  await handles.open({ handleId: 'h', path: fileUri(folder.file('file')), mode: 'replace' });
  const block = Buffer.alloc(1024 * 1024, 'x');
  for (let index = 0; index < 8; index += 1) {
    const params = { handleId: 'h', offset: index * block.length };
    if (how === 'as bytes') await handles.write({ ...params, chunk: '' }, block);
    else await handles.write({ ...params, chunk: block.toString('base64') }, undefined);
  }
  await handles.close('h');
  expect(collections).toBeGreaterThan(0);
});
