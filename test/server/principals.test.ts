import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { StdioServer } from '../../testkit/server-process.mjs';
import { dialWire, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

const SECRET = 'a shared secret of more than 32 bytes';
const KEPT = { lease: 'kept', pipeStdin: true };

function jwt(claims: Record<string, unknown>): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1000) + 600;
  const signed = `${part({ alg: 'HS256' })}.${part({ exp, ...claims })}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

async function connect(url: string | undefined, token?: string): Promise<WireClient> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { client } = await dialWire(String(url), { headers });
  await client.handshake();
  return client;
}

async function keptIds(client: WireClient): Promise<string[]> {
  const { processes } = await client.call('process/list', { scope: 'server' });
  const rows = processes as { processId: string; sessionId: string }[];
  return rows.filter(({ sessionId }) => sessionId === 'kept').map(({ processId }) => processId);
}

/** Everything one may try with the process of somebody else. */
async function attempts(client: WireClient, processId: string): Promise<unknown[]> {
  const code = async (method: string, params: object): Promise<unknown> =>
    (await client.ask(method, { processId, ...params })).error?.data?.code;
  return [
    await code('process/attach', {}),
    await code('process/wait', {}),
    await code('process/read', {}),
    await client.call('process/write', { processId, writeId: 'w', chunk: '' }),
    await client.call('process/terminate', { processId, sessionId: 'kept' }),
    await client.call('process/terminate', { processId }),
    await keptIds(client),
  ];
}

const NOTHING_THERE = [
  'processNotFound',
  'processNotFound',
  'processNotFound',
  { status: 'unknownProcess' },
  { running: false },
  { running: false },
  [],
];

test('two subjects have nothing in common; the same one comes back with another token', async () => {
  const auth = { mode: 'signed-bearer-token', sharedSecret: Buffer.from(SECRET) } as const;
  await using server = await serve({ auth });
  const [url] = server.urls;
  const anna = await connect(url, jwt({ sub: 'anna' }));
  await anna.call('process/start', startParams('job', ['cat'], KEPT));
  const strangers = [jwt({ sub: 'ben' }), jwt({}), jwt({ sub: 'anna', iss: 'elsewhere' })];
  for (const token of strangers)
    expect(await attempts(await connect(url, token), 'job')).toEqual(NOTHING_THERE);
  // The same name means something else to somebody else.
  const ben = await connect(url, jwt({ sub: 'ben' }));
  await ben.call('process/start', startParams('job', ['sleep', '1000'], KEPT));
  const annaAgain = await connect(url, jwt({ sub: 'anna', jti: 'another' }));
  expect(await annaAgain.call('process/attach', { processId: 'job' })).toMatchObject({ lease: 'kept' });
  expect(await keptIds(annaAgain)).toEqual(['job']);
  await annaAgain.call('process/terminate', { processId: 'job' });
  await annaAgain.call('process/wait', { processId: 'job' });
  expect(await keptIds(ben)).toEqual(['job']);
});

test('a token without a subject stands for itself', async () => {
  const auth = { mode: 'signed-bearer-token', sharedSecret: Buffer.from(SECRET) } as const;
  await using server = await serve({ auth });
  const [url] = server.urls;
  const token = jwt({ jti: 'mine' });
  await (await connect(url, token)).call('process/start', startParams('job', ['cat'], KEPT));
  expect(await keptIds(await connect(url, token))).toEqual(['job']);
  expect(await attempts(await connect(url, jwt({ jti: 'other' })), 'job')).toEqual(NOTHING_THERE);
});

test('whoever resumes the session of another subject does not get its kept processes', async () => {
  const auth = { mode: 'signed-bearer-token', sharedSecret: Buffer.from(SECRET) } as const;
  await using server = await serve({ auth });
  const [url] = server.urls;
  const dial = async (sub: string) =>
    await dialWire(String(url), { headers: { authorization: `Bearer ${jwt({ sub })}` } });
  const { client: anna, socket } = await dial('anna');
  const resumeSessionId = await anna.handshake();
  await anna.call('process/start', startParams('job', ['cat'], KEPT));
  socket.terminate();
  for (;;) {
    const { client: ben } = await dial('ben');
    const answer = await ben.ask('initialize', { clientName: 'ben', resumeSessionId });
    if (answer.error?.data?.code === 'sessionBusy') continue;
    ben.send('{"method":"initialized","params":{}}');
    expect(await attempts(ben, 'job')).toEqual(NOTHING_THERE);
    break;
  }
});

test('one token, one client; a unix socket tells users apart from whoever comes over loopback', async () => {
  await using guarded = await serve({ auth: { token: 'let me in' } });
  const token = 'let me in';
  await (await connect(guarded.urls[0], token)).call('process/start', startParams('job', ['cat'], KEPT));
  expect(await keptIds(await connect(guarded.urls[0], token))).toEqual(['job']);

  using folder = new TestFolder();
  const unix = `unix://${folder.file('socket')}`;
  await using open = await serve({ listen: [unix, 'ws://127.0.0.1:0'] });
  await (await connect(unix)).call('process/start', startParams('job', ['cat'], KEPT));
  expect(await keptIds(await connect(unix))).toEqual(['job']);
  expect(await attempts(await connect(open.urls[1]), 'job')).toEqual(NOTHING_THERE);
});

test('a server that ends with its client keeps nothing, and says so', async () => {
  await using server = new StdioServer();
  const { capabilities } = await server.client.call('initialize', { clientName: 'test' });
  server.client.send('{"method":"initialized","params":{}}');
  expect(capabilities).not.toHaveProperty('leases');
  const refused = [
    await server.client.ask('process/start', startParams('p', ['true'], KEPT)),
    await server.client.ask('process/attach', { processId: 'p' }),
  ];
  expect(refused.map(({ error }) => error?.data?.code)).toEqual(['leasesUnavailable', 'leasesUnavailable']);
  expect(refused[0]?.error?.message).toContain('execwire serve');
});

test('whoever ends many kept processes pushes out their own only', { timeout: 60_000 }, async () => {
  const auth = { mode: 'signed-bearer-token', sharedSecret: Buffer.from(SECRET) } as const;
  await using server = await serve({ auth });
  const [url] = server.urls;
  const anna = await connect(url, jwt({ sub: 'anna' }));
  const ben = await connect(url, jwt({ sub: 'ben' }));
  const endOne = async (client: WireClient, processId: string): Promise<void> => {
    await client.call('process/start', startParams(processId, ['true'], KEPT));
    await client.call('process/wait', { processId });
    await client.call('process/detach', { processId });
  };
  await endOne(anna, 'first of anna');
  for (let number = 0; number < 256; number += 1) await endOne(ben, `b${number}`);
  expect(await keptIds(anna)).toEqual(['first of anna']);
  expect(await keptIds(ben)).toEqual(Array.from({ length: 255 }, (_, number) => `b${number + 1}`));
  // The one who has less does not give way to more of the other, nor the other way round.
  await endOne(anna, 'second of anna');
  expect(await keptIds(anna)).toEqual(['first of anna', 'second of anna']);
  expect(await keptIds(ben)).toHaveLength(254);
});
