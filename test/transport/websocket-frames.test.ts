import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { binaryMessage, type Channel, type OutgoingMessage } from '../../src/rpc/index.js';
import { WebSocketListener } from '../../src/transport/index.js';

let listener: WebSocketListener;
let accepted: (channel: Channel) => void;
beforeAll(async () => {
  listener = await WebSocketListener.open({
    address: { kind: 'tcp', host: '127.0.0.1', port: 0 },
    onConnection: (channel) => accepted(channel),
  });
});
afterAll(() => listener.close());

async function connect(): Promise<{ channel: Channel; socket: WebSocket }> {
  const channel = new Promise<Channel>((resolve) => (accepted = resolve));
  const socket = new WebSocket(listener.url);
  await once(socket, 'open');
  return { channel: await channel, socket };
}

/** Whether this is what arrives, and in what kind of message. Waits for `flushed` too. */
async function sent(
  message: OutgoingMessage,
  expected: Uint8Array,
): Promise<{ same: boolean; isBinary: boolean }> {
  const { channel, socket } = await connect();
  const arrived = once(socket, 'message') as Promise<[Buffer, boolean]>;
  await new Promise<void>((resolve) => channel.send(message, resolve));
  const [data, isBinary] = await arrived;
  socket.terminate();
  return { same: data.equals(expected), isBinary };
}

/** Around every length at which a frame looks different, or is written in another way. */
const SIZES = [0, 1, 125, 126, 4095, 4096, 4097, 65_535, 65_536, 1_000_000];

test.each(SIZES)('a text of %i characters', async (size) => {
  const text = 'ü'.repeat(size / 2) + 'x'.repeat(size % 2);
  expect(await sent(text, Buffer.from(text))).toEqual({ same: true, isBinary: false });
});

test.each(SIZES)('the bytes of a text, %i of them', async (size) => {
  const bytes = Buffer.alloc(size, 'y');
  expect(await sent(bytes, bytes)).toEqual({ same: true, isBinary: false });
});

test.each(SIZES)('a binary frame with %i bytes', async (size) => {
  const message = binaryMessage('{"method":"m","params":{},"bytes":"b"}', Buffer.alloc(size, 1));
  expect(await sent(message, message.joined())).toEqual({ same: true, isBinary: true });
});

test('messages of all kinds and the goodbye keep their order', async () => {
  const { channel, socket } = await connect();
  const seen: string[] = [];
  socket.on('message', (data: Buffer) => seen.push(`${data.length}`));
  for (let round = 0; round < 50; round += 1) {
    channel.send('x'.repeat(round), () => undefined);
    channel.send(Buffer.alloc(100_000 + round, 'x'), () => undefined);
    channel.send(binaryMessage('{}', Buffer.alloc(200_000 + round)), () => undefined);
  }
  channel.open({ message: () => undefined, closed: () => undefined });
  channel.close('done');
  channel.send('too late', () => undefined);
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  expect({ code, reason: reason.toString() }).toEqual({ code: 1000, reason: 'done' });
  expect(seen).toEqual(
    Array.from({ length: 50 }, (_, round) => [`${round}`, `${100_000 + round}`, `${200_006 + round}`]).flat(),
  );
});
