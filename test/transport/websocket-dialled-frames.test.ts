import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { binaryMessage, type Channel, type OutgoingMessage } from '../../src/rpc/index.js';
import { dialWebSocket } from '../../src/transport/index.js';

let server: WebSocketServer;
let channel: Channel;
let socket: WebSocket;
beforeAll(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  channel = await dialWebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  [socket] = await connected;
});
afterAll(() => {
  channel.destroy('done');
  server.close();
});

/** What arrives, and in what kind of message. Waits for `flushed` too. */
async function sent(message: OutgoingMessage): Promise<{ bytes: Buffer; isBinary: boolean }> {
  const arrived = once(socket, 'message') as Promise<[Buffer, boolean]>;
  await new Promise<void>((resolve) => channel.send(message, resolve));
  const [bytes, isBinary] = await arrived;
  return { bytes, isBinary };
}

const same = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** Around every length at which a frame looks different, or is written in another way. */
const SIZES = [0, 1, 125, 126, 4095, 4096, 4097, 65_535, 65_536, 1_000_000];

test.each(SIZES)(
  'what a client sends arrives as it was: %i bytes as text, as its bytes, behind a header',
  async (size) => {
    const text = 'ü'.repeat(size / 2) + 'x'.repeat(size % 2);
    const asText = await sent(text);
    expect({ ...asText, bytes: asText.bytes.toString() === text }).toEqual({ bytes: true, isBinary: false });
    const asBytes = await sent(Buffer.from(text));
    expect({ ...asBytes, bytes: asBytes.bytes.toString() === text }).toEqual({
      bytes: true,
      isBinary: false,
    });
    const framed = binaryMessage('{"method":"m","params":{},"bytes":"b"}', Buffer.alloc(size, 1));
    const asFrame = await sent(framed);
    expect({ ...asFrame, bytes: same(asFrame.bytes, framed.joined()) }).toEqual({
      bytes: true,
      isBinary: true,
    });
  },
);

test('what is lent is left as it is', async () => {
  const bytes = Buffer.alloc(100_000, 'z');
  await sent(binaryMessage('{}', bytes));
  expect(bytes.every((byte) => byte === 'z'.charCodeAt(0))).toBe(true);
});

test('pings, parts and messages of all kinds keep their order', async () => {
  const seen: number[] = [];
  const arrived = new Promise<void>((resolve) =>
    socket.on('message', (data: Buffer) => {
      if (data.toString() === 'last') resolve();
      else seen.push(data.length);
    }),
  );
  const ignore = (): void => undefined;
  for (let round = 1; round <= 50; round += 1) {
    channel.send('x'.repeat(round), ignore);
    socket.ping();
    channel.sendPart(Buffer.alloc(50_000), { isLast: false, isFrame: false }, ignore);
    channel.sendPart(Buffer.alloc(round), { isLast: true, isFrame: false }, ignore);
    channel.send(binaryMessage('{}', Buffer.alloc(200_000 + round)), ignore);
  }
  channel.send('last', ignore);
  await arrived;
  expect(seen).toEqual(
    Array.from({ length: 50 }, (_, index) => [index + 1, 50_001 + index, 200_007 + index]).flat(),
  );
});
