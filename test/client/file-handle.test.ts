import { expect, test } from 'vitest';
import { ExecClient } from '../../src/client/index.js';
import { RemoteFileSystem } from '../../src/client/files/remote-file-system.js';
import { isExecError } from '../../src/protocol/index.js';
import { ScriptedServer } from '../harness/scripted-server.js';

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
