import { expect, test } from 'vitest';
import { ExecClient, MAX_UNREAD_BYTES, type RemoteProcess, startProcess } from '../../src/client/index.js';
import { NO_ANSWER, ScriptedServer, snapshot } from '../harness/scripted-server.js';

const WINDOW_BYTES = 400;
const CHUNK = 'x'.repeat(50);
const MEBIBYTE = Buffer.alloc(1024 * 1024, 'x');

/** A server that holds back until output is acknowledged. */
function heldBack(): ScriptedServer {
  return new ScriptedServer({
    initialize: () => ({
      sessionId: 's',
      environmentInfo: { shell: { name: 'sh', path: '/bin/sh' } },
      capabilities: { flowControl: { windowBytes: WINDOW_BYTES } },
    }),
    'process/read': ({ afterSeq }) => snapshot({ nextSeq: Number(afterSeq) + 1 }),
  });
}

async function open(server: ScriptedServer): Promise<{ client: ExecClient; process: RemoteProcess }> {
  const client = await ExecClient.connect({ dial: server.dial, resume: true });
  return { client, process: await startProcess(client, { argv: ['x'], processId: 'p' }) };
}

/** Everything sent before is delivered in both directions. */
async function settle(client: ExecClient): Promise<void> {
  await client.call('environment/status', null);
}

test('unread output is not acknowledged; reading acknowledges a quarter of the window at a time', async () => {
  const server = heldBack();
  const { client, process } = await open(server);
  await using _ = client;
  for (let seq = 1; seq <= 8; seq += 1) server.output('p', seq, CHUNK);
  await settle(client);
  expect(server.sentTo('process/ack')).toEqual([]);
  const events = process.events();
  for (let count = 0; count < 6; count += 1) await events.next();
  await settle(client);
  // The sixth event is handed out but counts as read only when the next one is asked for.
  expect(server.sentTo('process/ack')).toEqual([
    { processId: 'p', seq: 2 },
    { processId: 'p', seq: 4 },
  ]);
});

test('the slowest reader decides', async () => {
  const server = heldBack();
  const { client, process } = await open(server);
  await using _ = client;
  for (let seq = 1; seq <= 8; seq += 1) server.output('p', seq, CHUNK);
  const [slow, fast] = [process.events(), process.events()];
  for (let count = 0; count < 8; count += 1) await fast.next();
  await slow.next();
  await settle(client);
  expect(server.sentTo('process/ack')).toEqual([]);
  await slow.return?.();
  await settle(client);
  expect(server.sentTo('process/ack')).toEqual([{ processId: 'p', seq: 7 }]);
});

test('waiting for the end while nobody reads acknowledges what arrives', async () => {
  const server = heldBack();
  const { client, process } = await open(server);
  await using _ = client;
  const end = process.wait();
  for (let seq = 1; seq <= 4; seq += 1) server.output('p', seq, CHUNK);
  server.exited('p', 5);
  server.closed('p', 6);
  expect(await end).toEqual({ kind: 'exited', exitCode: 0 });
  await settle(client);
  expect(server.sentTo('process/ack').map(({ seq }) => seq)).toEqual([2, 4, 6]);
});

test('after a reconnect the last acknowledgement is said again', async () => {
  const server = heldBack();
  const { client, process } = await open(server);
  await using _ = client;
  for (let seq = 1; seq <= 2; seq += 1) server.output('p', seq, CHUNK);
  const events = process.events();
  for (let count = 0; count < 2; count += 1) await events.next();
  const third = events.next();
  await server.hears('process/ack');
  server.cut();
  expect(await server.hears('process/ack', 2)).toEqual({ processId: 'p', seq: 2 });
  server.output('p', 3, 'on');
  expect((await third).value).toMatchObject({ seq: 3 });
});

test('a server that does not hold back is not read on while too much is unread', async () => {
  const server = new ScriptedServer();
  const { client, process } = await open(server);
  await using _ = client;
  const count = MAX_UNREAD_BYTES / MEBIBYTE.length + 8;
  for (let seq = 1; seq <= count; seq += 1) server.output('p', seq, MEBIBYTE);
  server.exited('p', count + 1);
  server.closed('p', count + 2);
  while (!server.paused) await process.feed.log.news(process.feed.log.nextSeq - 1, 10_000);
  expect(process.feed.log.totalBytes).toBe(MAX_UNREAD_BYTES);
  let bytes = 0;
  for await (const event of process.events()) if (event.type === 'output') bytes += event.bytes.length;
  expect(bytes).toBe(count * MEBIBYTE.length);
  expect(server.paused).toBe(false);
});

test('a process whose unread output stops the connection can still be ended', async () => {
  const server = new ScriptedServer();
  const { client, process } = await open(server);
  await using _ = client;
  const count = MAX_UNREAD_BYTES / MEBIBYTE.length;
  for (let seq = 1; seq <= count; seq += 1) server.output('p', seq, MEBIBYTE);
  while (!server.paused) await process.feed.log.news(process.feed.log.nextSeq - 1, 10_000);
  expect(await process.terminate()).toBe(true);
  expect(server.paused).toBe(false);
});

test('what is written while a write is under way is sent together, and long writes in pieces', async () => {
  const server = new ScriptedServer();
  const { client, process } = await open(server);
  await using _ = client;
  const long = new Uint8Array(1024 * 1024 + 1);
  await Promise.all([process.write('a'), process.write('b'), process.write('c'), process.write(long)]);
  const sizes = server
    .sentTo('process/write')
    .map(({ writeId, chunk }) => [writeId, Buffer.from(String(chunk), 'base64').length]);
  expect(sizes).toEqual([
    ['1', 1],
    ['2', 2],
    ['3', 512 * 1024],
    ['4', 512 * 1024],
    ['5', 1],
  ]);
});

test('a signal comes behind the writes before it, even if they are not answered', async () => {
  const server = new ScriptedServer({ 'process/write': () => NO_ANSWER });
  const { client, process } = await open(server);
  await using _ = client;
  process.write('a').catch(() => undefined);
  process.write('b').catch(() => undefined);
  await process.signal('SIGINT');
  expect(server.heard.slice(-3).map(([method]) => method)).toEqual([
    'process/write',
    'process/write',
    'process/signal',
  ]);
});

test('a server that promised to hold back and does not is given up, not stored', async () => {
  const server = heldBack();
  const { client, process } = await open(server);
  await using _ = client;
  const count = MAX_UNREAD_BYTES / MEBIBYTE.length + 1;
  for (let seq = 1; seq <= count; seq += 1) server.output('p', seq, MEBIBYTE);
  await settle(client);
  expect(await process.wait()).toMatchObject({
    kind: 'contactLost',
    error: { code: 'protocolViolation' },
  });
  expect(server.sentTo('process/terminate')).toEqual([{ processId: 'p' }]);
});
