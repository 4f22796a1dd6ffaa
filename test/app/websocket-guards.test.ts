import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { AppClient } from '../../testkit/app-client.mjs';
import { WebSocketApp } from '../../testkit/app-server.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';

let server: WebSocketApp;
beforeAll(async () => {
  server = await WebSocketApp.start();
});
afterAll(() => server[Symbol.asyncDispose]());

async function get(path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  const sent = request(new URL(path, server.url.replace('ws:', 'http:')), { headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

test('probes answer 200, other plain requests 400, anything with an Origin 403', async () => {
  expect(await get('/readyz')).toBe(200);
  expect(await get('/healthz')).toBe(200);
  expect(await get('/')).toBe(400);
  expect(await get('/any/thing')).toBe(400);
  expect(await get('/readyz', { origin: 'http://evil.test' })).toBe(403);
  const socket = new WebSocket(server.url, { headers: { origin: 'null' } });
  const [error] = (await once(socket, 'error')) as [Error];
  expect(error.message).toContain('403');
});

test('any path upgrades; binary messages are ignored; a message of 15 MiB is taken', async () => {
  const { client, socket } = await dialWire(`${server.url}/some/path?x=1`);
  const app = await new AppClient(client).initialize();
  socket.send(Buffer.from('{"id":"binary","method":"fs/getMetadata","params":{"path":"/"}}'), {
    binary: true,
  });
  const params = { command: ['true'], padding: 'x'.repeat(15 * 1024 * 1024) };
  expect(await app.call('command/exec', params)).toMatchObject({ exitCode: 0 });
  expect(client.arrivals.some((each) => 'id' in each && each.id === 'binary')).toBe(false);
  socket.terminate();
});
