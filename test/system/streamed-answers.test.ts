import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { serve } from '../harness/serve.js';
import { StdioServer } from '../../testkit/server-process.mjs';
import { dialWire, type WireAnswer } from '../../testkit/wire-client.mjs';

/** More than sockets hold on the way, so that a client that does not read is felt. */
const SIZE = 24 * 1024 * 1024;
const CONTENT = Buffer.alloc(SIZE, 'the content of a large file ');

function contentOf({ result }: WireAnswer): Buffer {
  return Buffer.from(String(result?.['dataBase64']), 'base64');
}

/** Whether this process, in which the server runs, has the file open. */
function isOpen(path: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });
}

describe('an answer that is sent in parts', () => {
  test('holds up what must come after it, and nobody else', async () => {
    using folder = new TestFolder();
    const path = folder.file('large');
    writeFileSync(path, CONTENT);
    await using server = await serve();
    const { client, socket } = await dialWire(server.url);
    const other = await dialWire(server.url);
    await client.handshake();
    await other.client.handshake();
    socket.pause();
    const read = client.ask('fs/readFile', { path: `file://${path}` });
    const again = client.ask('fs/readFile', { path: `file://${path}` });
    const write = client.ask('fs/writeFile', { path: `file://${path}`, dataBase64: 'bmV3' });
    const status = client.ask('environment/status');
    while (!isOpen(path)) await turn();
    expect(await other.client.call('environment/status')).toEqual({ status: 'ready' });
    expect(readFileSync(path).equals(CONTENT)).toBe(true);
    socket.resume();
    expect(contentOf(await read).equals(CONTENT)).toBe(true);
    expect(contentOf(await again).equals(CONTENT)).toBe(true);
    expect((await write).result).toEqual({});
    expect((await status).result).toEqual({ status: 'ready' });
    expect(readFileSync(path, 'utf8')).toBe('new');
    client.close();
    other.client.close();
  });

  test('lets go of its file when the client goes', async () => {
    using folder = new TestFolder();
    const path = folder.file('large');
    writeFileSync(path, CONTENT);
    await using server = await serve();
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    socket.pause();
    client.send(JSON.stringify({ id: 1, method: 'fs/readFile', params: { path: `file://${path}` } }));
    while (!isOpen(path)) await turn();
    socket.terminate();
    while (isOpen(path)) await turn();
    expect(isOpen(path)).toBe(false);
  });

  test('is one line on stdio', async () => {
    using folder = new TestFolder();
    const path = folder.file('large');
    writeFileSync(path, CONTENT);
    await using server = new StdioServer();
    await server.client.handshake();
    const [read, status] = await Promise.all([
      server.client.ask('fs/readFile', { path: `file://${path}` }),
      server.client.ask('environment/status'),
    ]);
    expect(contentOf(read).equals(CONTENT)).toBe(true);
    expect(status.result).toEqual({ status: 'ready' });
  });
});
