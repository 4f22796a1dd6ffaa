import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LocalFileSystem } from '../../src/host/files/index.js';
import { fileUri } from '../../src/protocol/index.js';
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
