import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ExecServer } from '../../src/server/index.js';
import { WebSocketListener } from '../../src/transport/index.js';
import { dialWire } from '../../testkit/wire-client.mjs';
import { serve } from '../harness/serve.js';

/** A server in this process that loses patience quickly. */
async function impatientServer(silenceLimitMs = 200): Promise<{ url: string } & AsyncDisposable> {
  const server = new ExecServer();
  const listener = await WebSocketListener.open({
    address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    liveness: { pingIntervalMs: 50, silenceLimitMs },
    onConnection: (channel, connection) => void server.accept(channel, { probe: () => connection.probe() }),
  });
  return {
    url: listener.url,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([server.close(), listener.close()]);
    },
  };
}

/** A WebSocket by hand, and the beginning of a message. */
async function beginMessage(url: string, bytes: number): Promise<Socket> {
  const { port, host } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13';
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n\r\n`,
  );
  await once(socket, 'data');
  socket.resume();
  // Text in one frame, its length in two bytes, masked with zeros.
  socket.write(Buffer.from([0x81, 0xfe, bytes >> 8, bytes & 0xff, 0, 0, 0, 0]));
  return socket;
}

describe('liveness', () => {
  test('a peer that shows no sign of life is cut off', async () => {
    await using server = await impatientServer();
    const socket = new WebSocket(server.url, { autoPong: false });
    socket.on('error', () => undefined);
    const [code] = (await once(socket, 'close')) as [number];
    expect(code).toBe(1006);
  });

  test('one that answers pings stays, however quiet it is', async () => {
    await using server = await impatientServer();
    const socket = new WebSocket(server.url);
    for (let pings = 0; pings < 8; pings += 1) await once(socket, 'ping');
    expect(socket.readyState).toBe(socket.OPEN);
    socket.terminate();
  });

  test('one in the middle of a long message cannot answer, and stays as long as more of it comes', async () => {
    await using server = await impatientServer(800);
    const socket = await beginMessage(server.url, 1000);
    const closed = once(socket, 'close');
    const begun = performance.now();
    while (performance.now() - begun < 2_000 && !socket.destroyed) {
      socket.write(' ');
      await pause(40);
    }
    expect(socket.destroyed).toBe(false);
    // And no longer.
    await closed;
  });

  test('nor does a doubt end it', async () => {
    await using server = await serve();
    const { client: owner, socket } = await dialWire(server.url);
    const resumeSessionId = await owner.handshake();
    const stream = (socket as unknown as { _socket: Socket })._socket;
    (socket as unknown as { _autoPong: boolean })._autoPong = false;
    stream.write(Buffer.from([0x81, 0xfe, 0x03, 0xe8, 0, 0, 0, 0]));
    const { client: other } = await dialWire(server.url);
    const taken = async (): Promise<boolean> =>
      (await other.ask('initialize', { clientName: 'other', resumeSessionId })).error === undefined;
    const begun = performance.now();
    while (performance.now() - begun < 3_000) {
      stream.write(' ');
      expect(await taken()).toBe(false);
      await pause(100);
    }
    expect(owner.closed).toBe(undefined);
    // Once it falls silent it has to give way.
    await expect.poll(taken, { timeout: 10_000 }).toBe(true);
    other.close();
  });
});
