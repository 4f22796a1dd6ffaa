import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { dialWebSocket } from '../../src/transport/index.js';

/** The mask of a short frame, behind its two bytes of header. */
const MASK = { start: 2, end: 6 };

test.each([
  ['127.0.0.1', true],
  ['localhost', true],
  // It leads to this machine as well, but nobody can tell that by looking at it.
  ['0.0.0.0', false],
])('what is sent to %s is left as it is: %s', async (host, isPlain) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  await once(server, 'listening');
  const connected = once(server, 'connection');
  const channel = await dialWebSocket(`ws://${host}:${(server.address() as AddressInfo).port}`);
  const [socket, request] = (await connected) as [NodeJS.EventEmitter, IncomingMessage];
  const heard = once(request.socket, 'data');
  const understood = once(socket, 'message');
  channel.send('hello', () => undefined);
  const [frame] = (await heard) as [Buffer];
  expect(frame.subarray(MASK.start, MASK.end).equals(Buffer.alloc(4))).toBe(isPlain);
  const [message] = (await understood) as [Buffer];
  expect(message.toString()).toBe('hello');
  channel.close('done');
});
