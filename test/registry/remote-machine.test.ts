import { afterEach, beforeEach, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { openEnvironment } from '../../src/environment/index.js';
import { RemoteMachine, requireRegistryUrl } from '../../src/registry/index.js';
import { ExecServer } from '../../src/server/index.js';
import { NoiseClient } from './noise-client.js';
import { RegistrySite } from './registry-site.js';

let site: RegistrySite;
let server: ExecServer;
let machine: RemoteMachine;
beforeEach(async () => {
  site = await RegistrySite.open();
  server = new ExecServer();
  machine = await join();
});
afterEach(async () => {
  await machine.close();
  await server.close();
  await site[Symbol.asyncDispose]();
});

async function join(token = 'machine'): Promise<RemoteMachine> {
  return await RemoteMachine.join({
    url: site.url,
    environmentId: 'a',
    token,
    accept: (channel, options) => server.accept(channel, options),
    onLost: () => undefined,
  });
}

let streams = 0;
async function reach(): Promise<NoiseClient> {
  streams += 1;
  return await NoiseClient.connect(site, { streamId: `stream-${streams}` });
}

async function open(): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({
    id: 'a',
    dial: async () => (await reach()).channel,
    resume: true,
  });
}

test('a client runs programs and moves many bytes in both directions', async () => {
  await using environment = await open();
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
  const cat = await environment.start({ argv: ['cat'], pipeStdin: true });
  const written = cat.write(Buffer.alloc(3_000_000, 'x')).then(() => cat.closeStdin());
  let bytes = 0;
  for await (const event of cat.events()) if (event.type === 'output') bytes += event.bytes.length;
  await written;
  expect(bytes).toBe(3_000_000);
});

test('a session resumes on another stream after a cut in the middle of output', async () => {
  const clients: NoiseClient[] = [];
  await using environment = await RemoteEnvironment.connect({
    id: 'a',
    dial: async () => {
      const client = await reach();
      clients.push(client);
      return client.channel;
    },
    resume: true,
  });
  const child = await environment.start({ argv: ['seq', '300000'] });
  let text = '';
  let isCut = false;
  for await (const event of child.events()) {
    if (event.type !== 'output') continue;
    text += Buffer.from(event.bytes).toString();
    if (!isCut && text.length > 100_000) {
      isCut = true;
      clients[0]?.line.hangUp();
    }
  }
  expect(text).toBe(Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join(''));
  expect(clients.length).toBeGreaterThan(1);
});

test('the address that a machine prints is one for clients', async () => {
  const address = `${site.url}/cloud/environment/a`;
  await using environment = await openEnvironment(address, { authBearerToken: 'client' });
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
  await expect(openEnvironment(address, { authBearerToken: 'stranger' })).rejects.toThrow(
    'the token is not accepted',
  );
  await machine.close();
  const late = openEnvironment(address, { authBearerToken: 'client' });
  await expect(late).rejects.toMatchObject({ code: 'notConnected', data: { status: 503 } });
});

test('a client without leave gets no answer but the end', async () => {
  const refused = NoiseClient.connect(site, { streamId: 'x', authorization: 'guess' });
  await expect(refused).rejects.toThrow('unauthorized');
});

test('a changed hello ends its own stream only', async () => {
  await using environment = await open();
  const change = (hello: Uint8Array): Uint8Array =>
    hello.map((byte, index) => (index === 2000 ? byte ^ 1 : byte));
  const refused = NoiseClient.connect(site, { streamId: 'x', tamper: change });
  await expect(refused).rejects.toThrow('noise_relay_protocol_error');
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
});

test.each([
  ['a forged record', { kind: 'data', seq: 0, payload: Buffer.alloc(100) }],
  ['a gap', { kind: 'data', seq: 1000, payload: Buffer.alloc(100) }],
  ['a second hello', { kind: 'handshake', payload: Buffer.alloc(100) }],
] as const)('%s ends the stream', async (_, body) => {
  const client = await reach();
  client.forge(body);
  expect((await client.line.closed).code).toBe(1001);
  await using environment = await open();
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
});

test('a client that hangs up and comes again takes no places', async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    const clients = await Promise.all(Array.from({ length: 10 }, reach));
    for (const { line } of clients) line.hangUp();
  }
  await using environment = await open();
  expect((await environment.run(['echo', 'hi'])).stdout).toBe('hi\n');
});

test('a machine whose token is not accepted says so, without the token', async () => {
  const refused = join('stranger');
  await expect(refused).rejects.toThrow('the token is not accepted');
  await expect(refused).rejects.not.toThrow('stranger');
});

test('a token is not sent over the network in plain text', () => {
  expect(requireRegistryUrl('http://127.0.0.1:7070', { insecure: false })).toBe('http://127.0.0.1:7070/');
  expect(requireRegistryUrl('https://gateway.example/x', { insecure: false })).toBe(
    'https://gateway.example/x',
  );
  expect(() => requireRegistryUrl('http://gateway.example', { insecure: false })).toThrow('plain text');
  expect(requireRegistryUrl('http://gateway.example', { insecure: true })).toBe('http://gateway.example/');
  expect(() => requireRegistryUrl('ws://127.0.0.1', { insecure: false })).toThrow('--remote must be');
});
