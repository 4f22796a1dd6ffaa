import { EventEmitter, once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { answerPings } from '../../src/transport/websocket-pongs.js';
import { serve } from '../harness/serve.js';

/** Sends nothing until told to. */
class StuckSocket extends EventEmitter {
  readonly #sent: (() => void)[] = [];
  pongs = 0;

  pong(_data: Buffer, _mask: undefined, sent: () => void): void {
    this.pongs += 1;
    this.#sent.push(sent);
  }

  sendEverything(): void {
    for (const sent of this.#sent.splice(0)) sent();
  }
}

describe('pings', () => {
  test('of somebody who does not read do not pile up as pongs', () => {
    const socket = new StuckSocket();
    answerPings(socket);
    for (let count = 0; count < 1000; count += 1) socket.emit('ping', Buffer.alloc(125));
    expect(socket.pongs).toBeLessThan(100);
    const before = socket.pongs;
    socket.sendEverything();
    socket.emit('ping', Buffer.alloc(0));
    expect(socket.pongs).toBe(before + 1);
  });

  test('are answered with what they bring', async () => {
    await using server = await serve();
    const socket = new WebSocket(server.url);
    await once(socket, 'open');
    for (const text of ['one', 'two']) {
      socket.ping(text);
      const [data] = (await once(socket, 'pong')) as [Buffer];
      expect(data.toString()).toBe(text);
    }
    socket.terminate();
  });
});
