import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ExecServer } from '../../src/server/index.js';
import { WebSocketListener } from '../../src/transport/index.js';

/** A server in this process that loses patience quickly. */
async function impatientServer(): Promise<{ url: string } & AsyncDisposable> {
  const server = new ExecServer();
  const listener = await WebSocketListener.open({
    address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    liveness: { pingIntervalMs: 50, silenceLimitMs: 200 },
    onConnection: (channel, connection) => void server.accept(channel, { probe: () => connection.probe() }),
  });
  return {
    url: listener.url,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([server.close(), listener.close()]);
    },
  };
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
});
