import { expect, test } from 'vitest';
import { execMethods } from '../../src/protocol/index.js';
import { serve } from '../../src/server/index.js';
import { createMemoryChannels } from '../../src/transport/index.js';
import { dialWire, startParams, type WireClient } from '../../testkit/wire-client.mjs';

const TOKEN = 'a token of the server';

async function connect(url: string | undefined, token: string): Promise<WireClient> {
  const { client } = await dialWire(String(url), { headers: { authorization: `Bearer ${token}` } });
  await client.handshake({ capabilities: { flowControl: true } });
  return client;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function sharing(forMs?: number): Promise<{
  url: string;
  owner: WireClient;
  token: string;
  shareId: string;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const server = await serve({ auth: { token: TOKEN } });
  const url = String(server.urls[0]);
  const owner = await connect(url, TOKEN);
  for (const id of ['p', 'other'])
    await owner.call('process/start', startParams(id, ['cat'], { tty: true, lease: 'kept' }));
  const share = await owner.call('process/share', {
    processId: 'p',
    ...(forMs === undefined ? {} : { forMs }),
  });
  const { token, shareId } = share as { token: string; shareId: string };
  return { url, owner, token, shareId, [Symbol.asyncDispose]: () => server.close() };
}

const ALLOWED = [
  'initialize',
  'process/list',
  'process/attach',
  'process/detach',
  'process/read',
  'process/wait',
];

test('the bearer of a share views one process, and every other method is refused', async () => {
  await using shared = await sharing();
  const viewer = await connect(shared.url, shared.token);
  const attached = await viewer.call('process/attach', { processId: 'p', screen: true, keyboard: 'take' });
  expect(attached).toMatchObject({ holds: false, screen: { alternate: false } });
  const chunk = base64('seen\r');
  await shared.owner.call('process/write', { processId: 'p', writeId: '1', chunk });
  await viewer.until(() => viewer.output('p').includes('seen') || undefined);

  const refused = Object.keys(execMethods).filter((method) => !ALLOWED.includes(method));
  expect(refused.length).toBeGreaterThan(30);
  for (const method of refused) {
    for (const params of [
      { processId: 'p', chunk, writeId: '2', size: { rows: 1, cols: 1 }, signal: 'SIGINT' },
      null,
    ]) {
      const { error } = await viewer.ask(method, params);
      expect({ method, code: error?.data?.code }).toEqual({ method, code: 'viewOnly' });
    }
  }
  // Other processes are not there, not even in the list; nor is what this one was started with.
  for (const method of ['process/attach', 'process/read', 'process/wait']) {
    const { error } = await viewer.ask(method, { processId: 'other' });
    expect({ method, code: error?.data?.code }).toEqual({ method, code: 'processNotFound' });
  }
  const { processes } = await viewer.call('process/list', { scope: 'server' });
  expect(processes).toMatchObject([{ processId: 'p', pid: null, argv: ['cat'] }]);
});

test('a share does not lead into the session of somebody else', async () => {
  await using shared = await sharing();
  const { client: owner, socket } = await dialWire(shared.url, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const sessionId = await owner.handshake();
  socket.terminate();
  const { client } = await dialWire(shared.url, { headers: { authorization: `Bearer ${shared.token}` } });
  const { error } = await client.ask('initialize', { clientName: 'x', resumeSessionId: sessionId });
  expect(error?.data?.code).toBe('sessionNotFound');
});

test('revoking cuts those who view at once, and nobody comes back', async () => {
  await using shared = await sharing();
  const viewer = await connect(shared.url, shared.token);
  await viewer.call('process/attach', { processId: 'p', screen: true });
  expect(await shared.owner.call('process/shares', {})).toMatchObject({
    shares: [{ shareId: shared.shareId, processId: 'p' }],
  });
  expect(await shared.owner.call('process/unshare', { shareId: shared.shareId })).toEqual({ revoked: true });
  await viewer.until(() => viewer.closed);
  expect(await shared.owner.call('process/unshare', { shareId: shared.shareId })).toEqual({ revoked: false });
  await expect(connect(shared.url, shared.token)).rejects.toThrow(/401/);
  const { processes } = await shared.owner.call('process/list', { scope: 'server' });
  expect(processes).toContainEqual(expect.objectContaining({ processId: 'p', attached: 1, exited: false }));
});

test('a share expires, also for those who view', async () => {
  await using shared = await sharing(3_000);
  const viewer = await connect(shared.url, shared.token);
  await viewer.until(() => viewer.closed);
  await expect(connect(shared.url, shared.token)).rejects.toThrow(/401/);
});

test('a share ends when the server forgets its process: another one that gets the id is not shared', async () => {
  await using shared = await sharing();
  const viewer = await connect(shared.url, shared.token);
  await shared.owner.call('process/terminate', { processId: 'p' });
  await shared.owner.closedEvents('p');
  // What has ended can still be viewed.
  expect(await viewer.call('process/attach', { processId: 'p' })).toMatchObject({ processId: 'p' });
  await shared.owner.call('process/detach', { processId: 'p' });
  await shared.owner.call('process/start', startParams('p', ['cat'], { tty: true, lease: 'kept' }));
  await viewer.until(() => viewer.closed);
  await expect(connect(shared.url, shared.token)).rejects.toThrow(/401/);
  expect(await shared.owner.call('process/shares', {})).toEqual({ shares: [] });
});

test('nobody shares what is not theirs, and a made-up token is none', async () => {
  await using shared = await sharing();
  const { error } = await shared.owner.ask('process/share', { processId: 'nobody' });
  expect(error?.data?.code).toBe('processNotFound');
  await expect(connect(shared.url, 'execwire-share-made-up')).rejects.toThrow(/401/);
  const viewer = await connect(shared.url, shared.token);
  expect((await viewer.ask('process/share', { processId: 'p' })).error?.data?.code).toBe('viewOnly');
});

test('those who come and go by a share leave room for everybody else', async () => {
  await using server = await serve({ auth: { token: TOKEN }, maxSessions: 8 });
  const owner = await connect(server.urls[0], TOKEN);
  await owner.call('process/start', startParams('p', ['cat'], { tty: true, lease: 'kept' }));
  const { token } = (await owner.call('process/share', { processId: 'p' })) as { token: string };
  for (let count = 0; count < 20; count += 1) {
    const { client, socket } = await dialWire(String(server.urls[0]), {
      headers: { authorization: `Bearer ${token}` },
    });
    await client.handshake();
    await client.call('process/attach', { processId: 'p', screen: true });
    socket.terminate();
  }
  await connect(server.urls[0], TOKEN);
  await expect
    .poll(async () => (await owner.call('process/list', { scope: 'server' })).processes)
    .toMatchObject([{ processId: 'p', attached: 1 }]);
});

test('one share does not fill the server', async () => {
  await using shared = await sharing();
  for (let count = 0; count < 128; count += 1) await connect(shared.url, shared.token);
  await expect(connect(shared.url, shared.token)).rejects.toThrow('tooManySessions');
  await connect(shared.url, TOKEN);
});

test('a share that ends while its bearer connects lets nobody in', async () => {
  await using serving = await serve({ auth: { token: TOKEN } });
  const owner = await connect(serving.urls[0], TOKEN);
  await owner.call('process/start', startParams('p', ['cat'], { tty: true, lease: 'kept' }));
  const { token, shareId } = (await owner.call('process/share', { processId: 'p' })) as Record<
    string,
    string
  >;
  const share = serving.server.shareOf(String(token)) ?? expect.fail('there is no share');
  await owner.call('process/unshare', { shareId });
  const [near, far] = createMemoryChannels();
  let reason = '';
  near.open({
    message: () => undefined,
    binary: () => undefined,
    closed: (why) => {
      reason = why.message;
    },
  });
  void serving.server.accept(far, { share });
  await expect.poll(() => reason).toContain('the share is over');
});
