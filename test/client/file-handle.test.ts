import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ExecClient } from '../../src/client/index.js';
import { RemoteFileSystem } from '../../src/client/files/remote-file-system.js';
import { isExecError } from '../../src/protocol/index.js';
import { dialWebSocket } from '../../src/transport/websocket-dial.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { TestFolder } from '../harness/processes.js';
import { ScriptedServer } from '../harness/scripted-server.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

/** How a read of four bytes ends when the server answers with this. */
async function readFour(answer: { text: string; eof: boolean }): Promise<string> {
  const chunk = Buffer.from(answer.text).toString('base64');
  const server = new ScriptedServer({
    'fs/open': ({ handleId }) => ({ handleId }),
    'fs/readBlock': () => ({ chunk, eof: answer.eof }),
    'fs/close': () => ({}),
  });
  await using client = await ExecClient.connect({ dial: server.dial, resume: false });
  await using handle = await new RemoteFileSystem(client).open('/file');
  try {
    const { bytes, eof } = await handle.read(0, 4);
    return `${Buffer.from(bytes).toString()} ${eof}`;
  } catch (error) {
    return isExecError(error) ? error.code : `not ours: ${String(error)}`;
  }
}

test('a block that is short in the middle of a file, or too long, is no block', async () => {
  expect(await readFour({ text: 'abcd', eof: false })).toBe('abcd false');
  expect(await readFour({ text: 'ab', eof: true })).toBe('ab true');
  expect(await readFour({ text: '', eof: true })).toBe(' true');
  expect(await readFour({ text: 'abcd', eof: true })).toBe('abcd true');
  expect(await readFour({ text: 'ab', eof: false })).toBe('protocolViolation');
  expect(await readFour({ text: '', eof: false })).toBe('protocolViolation');
  expect(await readFour({ text: 'abcde', eof: false })).toBe('protocolViolation');
});

describe('across a lost connection', () => {
  const BLOCK = 64 * 1024;

  test('a file is written on where it was, and takes its place once', async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start();
    await using proxy = await FaultProxy.to(server.url);
    await using client = await ExecClient.connect({ dial: () => dialWebSocket(proxy.url), resume: true });
    const files = new RemoteFileSystem(client);
    const content = randomBytes(40 * BLOCK);
    const draft = await files.open(folder.file('draft'), { mode: 'replace', ahead: true });
    const blocks = Array.from({ length: 40 }, (_, index) => index * BLOCK);
    const write = (offset: number): Promise<void> =>
      draft.write(offset, content.subarray(offset, offset + BLOCK));
    await Promise.all(blocks.slice(0, 10).map(write));
    const written = blocks.slice(10, 30).map(write);
    proxy.cut();
    await Promise.all(written);
    const rest = [...blocks.slice(30).map(write), draft.closeAs(folder.file('place'))];
    proxy.cut();
    await Promise.all(rest);
    expect(readFileSync(folder.file('place')).equals(content)).toBe(true);
    expect(readdirSync(folder.path)).toEqual(['place']);
  });

  test('a file that was perhaps emptied is not written on: it may be emptied yet', async () => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start();
    await using proxy = await FaultProxy.to(server.url);
    await using client = await ExecClient.connect({ dial: () => dialWebSocket(proxy.url), resume: true });
    const draft = await new RemoteFileSystem(client).open(folder.file('draft'), {
      mode: 'replace',
      ahead: true,
    });
    const written = draft.write(0, Buffer.from('x'));
    proxy.cut();
    await expect(written).rejects.toMatchObject({ code: 'connectionClosed' });
  });

  test.each(['read', 'replace'] as const)(
    'a file that another one replaced is not taken for it, %s',
    async (mode) => {
      using folder = new TestFolder();
      await using server = await ServerProcess.start();
      await using proxy = await FaultProxy.to(server.url);
      await using client = await ExecClient.connect({ dial: () => dialWebSocket(proxy.url), resume: true });
      writeFileSync(folder.file('file'), 'one');
      const handle = await new RemoteFileSystem(client).open(folder.file('file'), { mode });
      writeFileSync(folder.file('other'), 'other');
      renameSync(folder.file('other'), folder.file('file'));
      proxy.cut();
      const use = mode === 'read' ? handle.read(0, 3) : handle.write(0, Buffer.from('new'));
      await expect(use).rejects.toThrow('replaced by another');
      expect(readFileSync(folder.file('file'), 'utf8')).toBe('other');
    },
  );
});
