import { expect, test } from 'vitest';
import { dialWebSocket, ExecClient, startProcess } from '../../src/client/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { serve } from '../harness/serve.js';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';

/** Far beyond what a test waits: whatever ends sooner was told to. */
const LEASE = { sessionTtlMs: 600_000 };

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function running(url: string): Promise<{ client: ExecClient; pid: number; sessionId: string }> {
  const client = await ExecClient.connect({ dial: () => dialWebSocket(url), resume: true });
  const child = await startProcess(client, { argv: sh('echo $$; exec sleep 600') });
  for await (const event of child.events()) {
    if (event.type === 'output') {
      return { client, pid: Number(Buffer.from(event.bytes).toString()), sessionId: client.sessionId };
    }
  }
  throw new Error('it said nothing');
}

async function resume(url: string, resumeSessionId: string): Promise<string | undefined> {
  const { client } = await dialWire(url);
  const { error } = await client.ask('initialize', { clientName: 'test', resumeSessionId });
  client.close();
  return error?.data?.code;
}

test.each(['close', 'leave'] as const)('a client that is done takes its session along: %s', async (way) => {
  await using server = await serve(LEASE);
  const { client, pid, sessionId } = await running(server.url);
  expect(isAlive(pid)).toBe(true);
  await client[way]();
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect(await resume(server.url, sessionId)).toBe('sessionNotFound');
});

test('one that loses its connection does not', async () => {
  await using server = await serve(LEASE);
  await using proxy = await FaultProxy.to(server.url);
  const { client, pid, sessionId } = await running(proxy.url);
  proxy.interrupt();
  await client.close();
  await expect.poll(() => resume(server.url, sessionId)).toBe(undefined);
  expect(isAlive(pid)).toBe(true);
});

test('nor does one that says goodbye without saying that it is done, as Codex does', async () => {
  await using server = await serve(LEASE);
  const { client, socket } = await dialWire(server.url);
  const resumeSessionId = await client.handshake();
  await client.call('process/start', startParams('p', sh('exec sleep 600')));
  socket.close(1000);
  await client.untilClosed();
  await expect.poll(() => resume(server.url, resumeSessionId)).toBe(undefined);
});

test('a connection without its session can do nothing until it has another one', async () => {
  await using server = await serve(LEASE);
  const { client } = await dialWire(server.url);
  const first = await client.handshake();
  client.send('{"method":"session/end"}');
  expect(await client.refusal('process/start', startParams('p', sh('true')))).toBe(-32600);
  expect(await client.handshake()).not.toBe(first);
  expect(await client.call('process/list')).toEqual({ processes: [] });
  client.close();
});
