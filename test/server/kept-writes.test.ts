import { expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { dialWire, startParams, type WireClient } from '../../testkit/wire-client.mjs';

const KEPT = { lease: 'kept', pipeStdin: true };

async function connect(url: string | undefined): Promise<WireClient> {
  const { client } = await dialWire(String(url));
  await client.handshake();
  return client;
}

function type(client: WireClient, text: string, writeId: string, more: object = {}): Promise<unknown> {
  const chunk = Buffer.from(text).toString('base64');
  return client.call('process/write', { processId: 'job', writeId, chunk, ...more });
}

async function typedAltogether(client: WireClient): Promise<string> {
  await client.call('process/closeStdin', { processId: 'job' });
  await client.call('process/wait', { processId: 'job' });
  const { chunks } = await client.call('process/read', { processId: 'job' });
  return (chunks as { chunk: string }[]).map(({ chunk }) => Buffer.from(chunk, 'base64').toString()).join('');
}

test('a write repeated after attaching again is typed once', async () => {
  await using server = await serve();
  const client = await connect(server.urls[0]);
  await client.call('process/start', startParams('job', ['cat'], KEPT));
  await type(client, 'one ', 'w1');
  await client.call('process/attach', { processId: 'job' });
  expect(await type(client, 'one ', 'w1')).toEqual({ status: 'accepted' });
  // What follows a write from before is taken, too.
  expect(await type(client, 'two', 'w2', { after: 'w1' })).toEqual({ status: 'accepted' });
  expect(await typedAltogether(client)).toBe('one two');
});

test('who lets go of a process begins anew', async () => {
  await using server = await serve();
  const client = await connect(server.urls[0]);
  await client.call('process/start', startParams('job', ['cat'], KEPT));
  await type(client, 'one ', '1');
  await client.call('process/detach', { processId: 'job' });
  await client.call('process/attach', { processId: 'job' });
  await type(client, 'two', '1');
  expect(await typedAltogether(client)).toBe('one two');
});

test('another process under the same id does not know the writes of the one before', async () => {
  await using server = await serve();
  const client = await connect(server.urls[0]);
  await client.call('process/start', startParams('job', ['cat'], KEPT));
  await type(client, 'one', '1');
  expect(await typedAltogether(client)).toBe('one');
  const other = await connect(server.urls[0]);
  await other.call('process/start', startParams('job', ['cat'], KEPT));
  await client.call('process/attach', { processId: 'job' });
  await type(client, 'two', '1');
  expect(await typedAltogether(client)).toBe('two');
});
