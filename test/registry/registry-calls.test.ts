import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { PublicKey } from '../../src/registry/public-key.js';
import { RegistryCalls } from '../../src/registry/registry-calls.js';
import { someKey } from './registry-site.js';

const TOKEN = 'the-token-of-this-machine';

/** What a machine makes of a registry that answers like this. */
async function ask(answer: RequestListener): Promise<unknown> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const calls = new RegistryCalls({ url: `http://127.0.0.1:${port}/`, environmentId: 'a', token: TOKEN });
  try {
    return await calls.register(PublicKey.parse(someKey()));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const good = {
  environment_id: 'a',
  url: 'wss://router.example/x',
  security_profile: 'noise_hybrid_ik_v1',
  executor_registration_id: 'r',
};

test('a good answer is one', async () => {
  expect(await ask((_, response) => response.end(JSON.stringify({ ...good, more: 1 })))).toEqual(good);
});

test.each<[string, RequestListener, RegExp]>([
  [
    'for another machine',
    (_, response) => response.end(JSON.stringify({ ...good, environment_id: 'b' })),
    /another/,
  ],
  [
    'with another profile',
    (_, response) => response.end(JSON.stringify({ ...good, security_profile: 'x' })),
    /form/,
  ],
  [
    'with no address of a WebSocket',
    (_, response) => response.end(JSON.stringify({ ...good, url: 'file:///x' })),
    /form/,
  ],
  ['that is no JSON', (_, response) => response.end('<html>'), /form/],
  ['that does not end', (_, response) => response.end('x'.repeat(100_000)), /cannot be reached/],
  ['that is cut off', (_, response) => response.destroy(), /cannot be reached/],
  [
    'that repeats the token',
    ({ headers }, response) => response.writeHead(400).end(headers.authorization),
    /status 400/,
  ],
])('an answer %s is an error, without the token', async (_, answer, message) => {
  const error = await ask(answer).catch((failure: unknown) => failure);
  expect(String(error)).toMatch(message);
  expect(String(error)).not.toContain(TOKEN);
});

test('a token is not carried to another address', async () => {
  let strangers = 0;
  const stranger = createServer((_, response) => {
    strangers += 1;
    response.end(JSON.stringify(good));
  }).listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  const { port } = stranger.address() as AddressInfo;
  const moved = ask((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
  );
  await expect(moved).rejects.toThrow('status 307');
  stranger.close();
  expect(strangers).toBe(0);
});
