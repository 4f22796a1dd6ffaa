import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Frame, FrameInbox, frameOf } from '../../testkit/frames.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

const BYTES = Buffer.from([0, 1, 2, 0xff, 0xfe, 0x0a]);
const FLOOD_BYTES = 20_000_000;

const folder = new TestFolder();
let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({ args: ['--log-level', 'silent', '--session-ttl', '1'] });
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

async function open(): Promise<{ client: WireClient; socket: WebSocket; inbox: FrameInbox }> {
  const { client, socket } = await dialWire(server.url);
  const inbox = new FrameInbox(socket);
  await client.handshake({ capabilities: { binaryFrames: true } });
  return { client, socket, inbox };
}

function uri(name: string): string {
  return pathToFileURL(folder.file(name)).href;
}

/** Numbered lines: no two parts of the output are alike. */
function numberedLines(): string[] {
  const print = `let n = 0, left = ${FLOOD_BYTES};
    while (left > 0) {
      let text = '';
      while (text.length < 60000) text += 'line ' + n++ + '\\n';
      text = text.slice(0, left);
      left -= require('node:fs').writeSync(1, text);
    }`;
  return [process.execPath, '-e', print];
}

function expectedDigest(): string {
  const hash = createHash('sha256');
  for (let n = 0, left = FLOOD_BYTES; left > 0; n += 1) {
    const line = `line ${n}\n`.slice(0, left);
    hash.update(line);
    left -= line.length;
  }
  return hash.digest('hex');
}

function digest(frames: readonly Frame[]): string {
  const hash = createHash('sha256');
  for (const { bytes } of frames) hash.update(bytes);
  return hash.digest('hex');
}

describe('binary frames', () => {
  test('are offered to a client that announced them, and to no other', async () => {
    const { client } = await dialWire(server.url);
    const plain = await client.call('initialize', { clientName: 'plain' });
    expect(plain.capabilities).not.toHaveProperty('binaryFrames');
    client.close();
    const other = await dialWire(server.url);
    const agreed = await other.client.call('initialize', {
      clientName: 'bytes',
      capabilities: { binaryFrames: true },
    });
    expect(agreed.capabilities).toMatchObject({ binaryFrames: true });
    other.client.close();
  });

  test('carry output and input as they are', async () => {
    const { client, socket, inbox } = await open();
    await client.call('process/start', startParams('p', ['cat'], { pipeStdin: true }));
    const params = { processId: 'p', writeId: '1' };
    socket.send(frameOf({ id: 'w', method: 'process/write', params, bytes: 'chunk' }, BYTES));
    expect(await client.answerTo('w')).toMatchObject({ result: { status: 'accepted' } });
    await inbox.until(() => inbox.frames.length > 0);
    expect(inbox.frames).toEqual([
      {
        header: {
          method: 'process/output',
          params: { processId: 'p', seq: 1, stream: 'stdout' },
          bytes: 'chunk',
        },
        bytes: BYTES,
      },
    ]);
    await client.call('process/closeStdin', { processId: 'p' });
    await client.closedEvents('p');
    client.close();
  });

  test('carry files and blocks both ways', async () => {
    const { client, socket, inbox } = await open();
    socket.send(
      frameOf({ id: 1, method: 'fs/writeFile', params: { path: uri('whole') }, bytes: 'dataBase64' }, BYTES),
    );
    expect(await client.answerTo(1)).toMatchObject({ result: {} });
    expect(readFileSync(folder.file('whole'))).toEqual(BYTES);
    client.send(JSON.stringify({ id: 2, method: 'fs/readFile', params: { path: uri('whole') } }));
    expect(await inbox.answerTo(2)).toEqual({
      header: { id: 2, result: {}, bytes: 'dataBase64' },
      bytes: BYTES,
    });

    await client.call('fs/open', { handleId: 'h', path: uri('blocks'), mode: 'replace' });
    const block = { handleId: 'h', offset: 2 };
    socket.send(frameOf({ id: 3, method: 'fs/writeBlock', params: block, bytes: 'chunk' }, BYTES));
    expect(await client.answerTo(3)).toMatchObject({ result: {} });
    await client.call('fs/close', { handleId: 'h' });
    await client.call('fs/open', { handleId: 'h', path: uri('blocks') });
    client.send(JSON.stringify({ id: 4, method: 'fs/readBlock', params: { ...block, len: 100 } }));
    expect(await inbox.answerTo(4)).toEqual({
      header: { id: 4, result: { eof: true }, bytes: 'chunk' },
      bytes: BYTES,
    });
    client.close();
  });

  test('an empty file is a frame without bytes, and text is taken as before', async () => {
    writeFileSync(folder.file('empty'), '');
    const { client, inbox } = await open();
    client.send(JSON.stringify({ id: 1, method: 'fs/readFile', params: { path: uri('empty') } }));
    expect((await inbox.answerTo(1)).bytes).toEqual(Buffer.alloc(0));
    const dataBase64 = BYTES.toString('base64');
    await client.call('fs/writeFile', { path: uri('text'), dataBase64 });
    expect(readFileSync(folder.file('text'))).toEqual(BYTES);
    client.close();
  });

  test('a flood nobody reads for a while arrives unchanged', async () => {
    const { client, socket, inbox } = await open();
    await client.call('process/start', startParams('p', numberedLines()));
    await inbox.until(() => inbox.frames.length > 2);
    socket.pause();
    // What another process of the session says meanwhile goes through the same memory.
    const other = await open();
    await other.client.call('process/start', startParams('q', sh('head -c 8000000 /dev/zero')));
    await other.client.closedEvents('q');
    socket.resume();
    await client.closedEvents('p');
    expect(inbox.frames.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(FLOOD_BYTES);
    expect(digest(inbox.frames)).toBe(expectedDigest());
    other.client.close();
    client.close();
  });
});

const call = { method: 'process/write', params: { processId: 'p', writeId: '1' } };

describe('a binary message that is no proper frame', () => {
  test.each([
    ['a preamble alone', Buffer.from([1])],
    ['a header longer than the message', frameOf({ id: 1, ...call, bytes: 'chunk' }).subarray(0, 30)],
    ['bytes that are no text', Buffer.from([2, 0xff, 0xfe])],
    ['a header that is not JSON', frameOf('{"id":1')],
    ['a header that is not UTF-8', Buffer.from([1, 0, 0, 2, 0xff, 0xff])],
    ['no name for its bytes', frameOf({ id: 1, ...call })],
    ['no params', frameOf({ id: 1, method: 'process/write', bytes: 'chunk' })],
    ['its member there already', frameOf({ id: 1, ...call, params: { chunk: '' }, bytes: 'chunk' })],
  ])('with %s is answered under the id -1', async (_what, data) => {
    const { client, socket } = await open();
    socket.send(data);
    expect(await client.answerTo(-1)).toMatchObject({
      error: { code: -32600, data: { code: 'invalidMessage' } },
    });
    expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    client.close();
  });

  test.each([
    ['a method that takes none', { method: 'environment/status', params: {}, bytes: 'chunk' }],
    ['another member', { ...call, params: { processId: 'p', chunk: '' }, bytes: 'writeId' }],
    ['an unknown member', { ...call, bytes: '__proto__' }],
  ])('with bytes for %s is answered under its own id', async (_what, message) => {
    const { client, socket } = await open();
    socket.send(frameOf({ id: 'own', ...message }, BYTES));
    expect(await client.answerTo('own')).toMatchObject({
      error: { code: -32602, data: { code: 'invalidParams' } },
    });
    client.close();
  });

  test('without an agreement is answered under the id -1, before and after the handshake', async () => {
    const { client, socket } = await dialWire(server.url);
    socket.send(frameOf({ id: 1, ...call, bytes: 'chunk' }, BYTES));
    expect(await client.answerTo(-1)).toMatchObject({ error: { code: -32600 } });
    await client.handshake();
    socket.send(frameOf({ id: 1, ...call, bytes: 'chunk' }, BYTES));
    await client.until(() => client.arrivals.filter((each) => 'id' in each && each.id === -1).length === 2);
    // Neither frame nor text.
    for (const data of [Buffer.from([0xff, 0xfe]), Buffer.from([0x7b, 0xc3, 0x28]), Buffer.alloc(0)])
      socket.send(data, { binary: true });
    await client.until(() => client.arrivals.filter((each) => 'id' in each && each.id === -1).length === 5);
    // Text in a binary message is text, as ever.
    socket.send(Buffer.from('{"id":"t","method":"environment/status"}'), { binary: true });
    expect(await client.answerTo('t')).toMatchObject({ result: { status: 'ready' } });
    client.close();
  });
});
