import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { ExecClient } from '../../src/client/index.js';
import type { Channel, CloseReason } from '../../src/rpc/index.js';
import { dialWebSocket, sha256 } from '../../src/transport/index.js';
import { serve } from '../harness/serve.js';

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** A plain WebSocket server; resolves with its address and the first connection. */
async function listen(): Promise<{ url: string; connection: Promise<WebSocket> }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  cleanUps.push(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const connection = once(server, 'connection').then(([socket]) => socket as WebSocket);
  await once(server, 'listening');
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, connection };
}

/** A TCP server that does as told with each connection. */
async function listenRaw(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Opens a channel and collects what comes. */
function collect(channel: Channel): { messages: string[]; closed: Promise<CloseReason> } {
  const messages: string[] = [];
  const closed = new Promise<CloseReason>((resolve) => {
    channel.open({ message: (text) => messages.push(text), closed: resolve });
  });
  return { messages, closed };
}

describe('dialling', () => {
  test('nobody there, not a WebSocket, no answer: not connected, and why', async () => {
    const silent = await listenRaw(() => undefined);
    const teapot = await listenRaw((socket) => {
      socket.end('HTTP/1.1 418 Teapot\r\ncontent-length: 0\r\n\r\n');
    });
    const gone = await listenRaw((socket) => socket.destroy());
    await expect(dialWebSocket('ws://127.0.0.1:1')).rejects.toMatchObject({ code: 'notConnected' });
    await expect(dialWebSocket(gone)).rejects.toMatchObject({ code: 'notConnected' });
    await expect(dialWebSocket(teapot)).rejects.toMatchObject({
      code: 'notConnected',
      data: { status: 418 },
    });
    await expect(dialWebSocket(silent, { connectTimeoutMs: 30 })).rejects.toMatchObject({
      code: 'notConnected',
    });
  });

  test.each(['http://127.0.0.1', 'localhost:80', '', 'unix://host/path', 'unix:'])(
    'refuses the address %j without repeating it',
    async (address) => {
      await expect(dialWebSocket(address)).rejects.toMatchObject({
        code: 'invalidConfiguration',
        message: 'The address must be ws://…, wss://… or unix:///path.',
      });
    },
  );

  test('the label names the host and nothing secret', async () => {
    const { url } = await listen();
    const channel = await dialWebSocket(url.replace('ws://', 'ws://user:secret@') + '/?token=secret');
    expect(channel.label).toBe(url);
    const { closed } = collect(channel);
    channel.destroy('done');
    expect(await closed).toEqual({ clean: false, message: 'done' });
  });

  test('a bearer token opens a server that wants one', async () => {
    await using server = await serve({
      auth: { mode: 'capability-token', tokenSha256: sha256('open sesame') },
    });
    const dial = (authBearerToken?: string) => () => dialWebSocket(server.url, { authBearerToken });
    await expect(ExecClient.connect({ dial: dial(), resume: true })).rejects.toMatchObject({
      code: 'notConnected',
      data: { status: 401 },
    });
    await using client = await ExecClient.connect({ dial: dial('open sesame'), resume: true });
    await expect(client.call('environment/status', null)).resolves.toEqual({ status: 'ready' });
  });

  test('a server on a unix socket is reached by its path', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'execwire-dial-'));
    cleanUps.push(() => rmSync(directory, { recursive: true }));
    const path = join(directory, 'socket');
    await using _server = await serve({ address: { kind: 'unix', path } });
    const dial = () => dialWebSocket(`unix://${path}`);
    await using client = await ExecClient.connect({ dial, resume: true });
    await expect(client.call('environment/status', null)).resolves.toEqual({ status: 'ready' });
    await expect(dialWebSocket(`unix://${directory}/a socket`)).rejects.toMatchObject({
      code: 'invalidConfiguration',
    });
  });
});

describe('a dialled channel', () => {
  test('keeps what comes before it is opened', async () => {
    const { url, connection } = await listen();
    void connection.then((socket) => socket.send('early'));
    const channel = await dialWebSocket(url);
    const socket = await connection;
    const { messages, closed } = collect(channel);
    socket.send('late');
    socket.close(1000, 'bye');
    expect(await closed).toEqual({ clean: true, message: 'bye' });
    expect(messages).toEqual(['early', 'late']);
  });

  test('sends long messages in frames below the limit of the peer', async () => {
    const { url, connection } = await listen();
    const channel = await dialWebSocket(url);
    const socket = await connection;
    const { closed } = collect(channel);
    const text = 'äöü'.repeat(5_000_000);
    const received = once(socket, 'message');
    await new Promise<void>((resolve) => channel.send(text, resolve));
    const [data, isBinary] = (await received) as [Buffer, boolean];
    expect(isBinary).toBe(false);
    expect(data.equals(Buffer.from(text))).toBe(true);
    channel.close('done');
    expect(await closed).toEqual({ clean: true, message: 'done' });
  });

  test('delivers nothing while paused', async () => {
    const { url, connection } = await listen();
    const channel = await dialWebSocket(url);
    const socket = await connection;
    const { messages, closed } = collect(channel);
    channel.pause();
    const ponged = once(socket, 'pong', { signal: AbortSignal.timeout(100) }).catch(() => 'no pong');
    socket.send('one');
    socket.ping();
    expect(await ponged).toBe('no pong');
    expect(messages).toEqual([]);
    channel.resume();
    socket.close(1000);
    await closed;
    expect(messages).toEqual(['one']);
  });

  test('a server that falls silent is noticed; one that answers pings is not', async () => {
    const { url, connection } = await listen();
    const channel = await dialWebSocket(url, { livenessTickMs: 20 });
    const socket = await connection;
    const { closed } = collect(channel);
    for (let pings = 0; pings < 8; pings += 1) await once(socket, 'ping');
    // From here on the server's end is not read: pings go unanswered.
    socket.pause();
    expect(await closed).toMatchObject({ clean: false });
  });
});
