import { expect, test } from 'vitest';
import { ExecClient, type RemoteProcess, startProcess } from '../../src/client/index.js';
import { ExecError } from '../../src/protocol/index.js';
import { story } from '../harness/events.js';
import { NO_ANSWER, ScriptedServer, snapshot } from '../harness/scripted-server.js';

async function open(server: ScriptedServer, options: { giveUpAfterMs?: number } = {}): Promise<ExecClient> {
  return await ExecClient.connect({ dial: server.dial, resume: true, ...options });
}

async function start(client: ExecClient): Promise<RemoteProcess> {
  return await startProcess(client, { argv: ['x'], processId: 'p' });
}

/** Resolves once the process has this much in its copy of the log. */
async function arrived(process: RemoteProcess, seq: number): Promise<void> {
  while (process.feed.log.nextSeq <= seq) await process.feed.log.news(process.feed.log.nextSeq - 1, 10_000);
}

test('what was missed while away is read, exit and close included', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await start(client);
  server.output('p', 1, 'a');
  await arrived(process, 1);
  server.on('process/read', () =>
    snapshot({
      chunks: [
        { seq: 2, text: 'b' },
        { seq: 4, text: 'late' },
      ],
      nextSeq: 6,
      exitCode: 3,
      closed: true,
    }),
  );
  server.cut();
  expect(await story(process)).toEqual(['1:a', '2:b', '3 exited 3', '4:late', '5 closed']);
  expect(await process.wait()).toEqual({ kind: 'exited', exitCode: 3 });
  expect(server.sentTo('process/read')).toEqual([{ processId: 'p', afterSeq: 1 }]);
  expect(server.sentTo('initialize')[1]).toMatchObject({ resumeSessionId: 'session-1' });
});

test('live events that overtake the answer to the read fall into place', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await start(client);
  server.on('process/read', () => {
    server.output('p', 3, 'c');
    server.exited('p', 4);
    server.closed('p', 5);
    return snapshot({
      chunks: [
        { seq: 1, text: 'a' },
        { seq: 2, text: 'b' },
      ],
      nextSeq: 3,
    });
  });
  server.cut();
  expect(await story(process)).toEqual(['1:a', '2:b', '3:c', '4 exited 0', '5 closed']);
});

test('a flood that overtakes the answer is read again instead of kept', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await start(client);
  const big = Buffer.alloc(1024 * 1024, 'x');
  let reads = 0;
  server.on('process/read', () => {
    reads += 1;
    // 17 MiB of live output come before the first answer: more than may wait.
    if (reads === 1) for (let seq = 2; seq <= 18; seq += 1) server.output('p', seq, big);
    return snapshot({
      chunks: Array.from({ length: reads === 1 ? 1 : 18 }, (_, index) => ({ seq: index + 1, text: 'y' })),
      nextSeq: reads === 1 ? 2 : 21,
      ...(reads === 1 ? {} : { exitCode: 0, closed: true }),
    });
  });
  server.cut();
  const told = await story(process);
  expect(told.map((line) => line.slice(0, 12)).filter((line) => !/^\d+:/.test(line))).toEqual([
    '19 exited 0',
    '20 closed',
  ]);
  expect(told).toHaveLength(20);
  expect(reads).toBe(2);
});

test('output the server had to let go is reported where it is missing', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await start(client);
  server.on('process/read', () =>
    snapshot({ chunks: [{ seq: 5, text: 'e', lostBytes: 4000 }], nextSeq: 8, exitCode: 0, closed: true }),
  );
  server.cut();
  expect(await story(process)).toEqual(['gap 1-4 4000', '5:e', '6 exited 0', '7 closed']);
});

test('an answer cut short by the server is followed by another read', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await start(client);
  server.on('process/read', ({ afterSeq }) => {
    const rest = snapshot({ nextSeq: 4, exitCode: 0, closed: true });
    const first = snapshot({ chunks: [{ seq: 1, text: 'a' }], nextSeq: 2, exitCode: 0, closed: true });
    return afterSeq === 0 ? first : rest;
  });
  server.cut();
  expect(await story(process)).toEqual(['1:a', '2 exited 0', '3 closed']);
});

test('an exit without a code is never made up', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await start(client);
  const answer = snapshot({ nextSeq: 3, closed: true }) as Record<string, unknown>;
  server.on('process/read', () => ({ ...answer, exited: true }));
  server.cut();
  expect(await process.wait()).toMatchObject({ kind: 'contactLost', error: { code: 'protocolViolation' } });
});

test('a busy session is asked for again', async () => {
  const server = new ScriptedServer({
    'process/read': () => snapshot({ nextSeq: 3, exitCode: 0, closed: true }),
  });
  await using client = await open(server);
  const process = await start(client);
  let refusals = 2;
  server.on('initialize', ({ resumeSessionId }) => {
    if (refusals === 0) return { sessionId: resumeSessionId };
    refusals -= 1;
    throw new ExecError('sessionBusy', 'attached elsewhere');
  });
  server.cut();
  expect(await process.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  expect(server.dials).toBe(4);
});

test('when the session is gone, processes lose contact and later calls get a new one', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await start(client);
  server.output('p', 1, 'a');
  await arrived(process, 1);
  server.on('initialize', ({ resumeSessionId }) => {
    if (resumeSessionId !== null) throw new ExecError('sessionNotFound', 'unknown session');
    return { sessionId: 'session-2' };
  });
  server.on('process/write', () => NO_ANSWER);
  const write = process.write('x');
  await server.hears('process/write');
  server.cut();
  await expect(write).rejects.toMatchObject({ code: 'contactLost' });
  expect(await story(process)).toEqual(['1:a', 'error contactLost']);
  expect(await process.wait()).toMatchObject({ kind: 'contactLost', error: { code: 'contactLost' } });
  await expect(process.terminate()).rejects.toMatchObject({ code: 'contactLost' });
  await process[Symbol.asyncDispose]();
  // The same id may be used in the new session; nothing about the old process reaches it.
  await start(client);
  expect(client.sessionId).toBe('session-2');
  expect(server.sentTo('process/terminate')).toEqual([]);
});

test('a server out of reach for too long is given up, and tried afresh by the next call', async () => {
  const server = new ScriptedServer();
  await using client = await open(server, { giveUpAfterMs: 300 });
  const process = await start(client);
  server.reachable = false;
  server.cut();
  expect(await process.wait()).toMatchObject({ kind: 'contactLost' });
  await expect(client.call('environment/status', null)).rejects.toMatchObject({ code: 'notConnected' });
  server.reachable = true;
  await expect(client.call('environment/status', null)).resolves.toEqual({ status: 'ready' });
  expect(server.sentTo('initialize').at(-1)).toMatchObject({ resumeSessionId: null });
});

test('a start after giving up, or while the session is found to be gone, runs in the new session', async () => {
  const server = new ScriptedServer();
  await using client = await open(server, { giveUpAfterMs: 200 });
  const first = await start(client);
  server.reachable = false;
  server.cut();
  expect(await first.wait()).toMatchObject({ kind: 'contactLost' });
  server.reachable = true;
  const second = await start(client);
  server.exited('p', 1, 4);
  server.closed('p', 2);
  expect(await second.wait()).toEqual({ kind: 'exited', exitCode: 4 });

  server.on('initialize', ({ resumeSessionId }) => {
    if (resumeSessionId !== null) throw new ExecError('sessionNotFound', 'unknown session');
    return { sessionId: 'session-3' };
  });
  server.cut();
  await new Promise<void>((resolve) => setImmediate(resolve));
  const third = await start(client);
  server.exited('p', 1, 5);
  server.closed('p', 2);
  expect(await third.wait()).toEqual({ kind: 'exited', exitCode: 5 });
});

test('an idle connection is made again without being asked', async () => {
  const server = new ScriptedServer();
  await using _client = await open(server);
  server.cut();
  expect(await server.hears('initialize', 2)).toMatchObject({ resumeSessionId: 'session-1' });
});

test('without resume, the end of the connection is the end', async () => {
  const server = new ScriptedServer();
  await using client = await ExecClient.connect({ dial: server.dial, resume: false });
  const process = await start(client);
  server.cut();
  expect(await process.wait()).toMatchObject({ kind: 'contactLost' });
  await expect(client.call('environment/status', null)).rejects.toMatchObject({ code: 'connectionClosed' });
  expect(server.dials).toBe(1);
});

test('closing ends calls under way and attempts to come back', async () => {
  const server = new ScriptedServer({ 'environment/status': () => NO_ANSWER });
  const client = await open(server);
  const process = await start(client);
  const call = client.call('environment/status', null);
  await server.hears('environment/status');
  server.reachable = false;
  server.cut();
  await client.close();
  await client.close();
  await expect(call).rejects.toMatchObject({ code: 'connectionClosed' });
  expect(await process.wait()).toMatchObject({ kind: 'contactLost' });
});
