import { describe, expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { gone, pidsWithArgument, stubbornTree, TestFolder } from '../harness/processes.js';

const KEPT = { lease: 'kept', pipeStdin: true };

async function connect(
  url: string | undefined,
  options: { resumeSessionId?: string; capabilities?: unknown } = {},
): Promise<{ client: WireClient; sessionId: string; drop: () => void }> {
  const { client, socket } = await dialWire(String(url));
  return { client, sessionId: await client.handshake(options), drop: () => socket.terminate() };
}

function type(client: WireClient, processId: string, text: string, writeId = text): Promise<unknown> {
  return client.call('process/write', { processId, writeId, chunk: Buffer.from(text).toString('base64') });
}

/** Resolves when this client has been sent the text. */
function shows(client: WireClient, processId: string, text: string): Promise<true> {
  return client.until(() => client.output(processId).includes(text) || undefined);
}

function endSession(client: WireClient): void {
  client.send('{"method":"session/end","params":{}}');
}

describe('a kept process', () => {
  test('goes on when its session is over, and the next client takes up where it is', async () => {
    await using server = await serve({ sessionTtlMs: 1 });
    const first = await connect(server.urls[0]);
    expect(await first.client.call('process/start', startParams('job', ['cat'], KEPT))).toEqual({
      processId: 'job',
      sandboxType: 'none',
    });
    await type(first.client, 'job', 'one ');
    await shows(first.client, 'job', 'one ');
    first.drop();
    const second = await connect(server.urls[0]);
    expect(await second.client.call('process/attach', { processId: 'job' })).toEqual({
      processId: 'job',
      tty: false,
      lease: 'kept',
      afterSeq: 0,
      nextSeq: 2,
      sandboxType: 'none',
    });
    await type(second.client, 'job', 'two');
    await shows(second.client, 'job', 'one two');
    await second.client.call('process/closeStdin', { processId: 'job' });
    expect((await second.client.closedEvents('job')).map(({ method }) => method)).toEqual([
      'process/output',
      'process/output',
      'process/exited',
      'process/closed',
    ]);
  });

  test('outlives its session by as long as its lease says, with its whole tree', async () => {
    using folder = new TestFolder();
    const mark = `mark-lease-${process.pid}-${Date.now()}`;
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    const script = stubbornTree(mark, folder.file('ready'));
    await client.call('process/start', startParams('tree', sh(script), { lease: 50 }));
    await folder.appears('ready');
    const other = await connect(server.urls[0]);
    await other.client.call('process/attach', { processId: 'tree', fromEnd: true });
    endSession(client);
    const { processes } = await other.client.call('process/list', { scope: 'server' });
    expect(processes).toMatchObject([{ processId: 'tree', sessionId: 'kept', lease: 50, exited: false }]);
    // Somebody uses it, so its time does not run.
    await expect.poll(() => pidsWithArgument(mark).length).toBeGreaterThan(2);
    const waiting = other.client.ask('process/wait', { processId: 'tree' });
    expect(await other.client.call('process/detach', { processId: 'tree' })).toEqual({});
    expect((await waiting).result).toMatchObject({ exitCode: 137, signal: 'SIGKILL', timedOut: false });
    await gone(mark);
  });

  test('takes what it left in the background along when it is no longer kept', async () => {
    const mark = `mark-left-${process.pid}-${Date.now()}`;
    await using server = await serve({ keepEndedMs: 1 });
    const { client } = await connect(server.urls[0]);
    const script = `setsid sh -c 'sleep 1000; :' ${mark} >/dev/null 2>&1 &`;
    // It is not the only one: the owner of all of them does not go yet.
    await client.call('process/start', startParams('other', ['cat'], KEPT));
    await client.call('process/start', startParams('p', sh(script), { lease: 'kept' }));
    await client.closedEvents('p');
    await gone(mark);
  });

  test('ends with its server', async () => {
    const mark = `mark-server-${process.pid}-${Date.now()}`;
    {
      await using server = await serve();
      const { client } = await connect(server.urls[0]);
      const argv = ['sh', '-c', 'sleep 1000; :', mark];
      await client.call('process/start', startParams('p', argv, KEPT));
      endSession(client);
      await (await connect(server.urls[0])).client.call('process/attach', { processId: 'p' });
      expect(pidsWithArgument(mark)).not.toEqual([]);
    }
    await gone(mark);
  });

  test('is known by its id only to whoever is attached, and once per session', async () => {
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    const other = await connect(server.urls[0]);
    await client.call('process/start', startParams('p', ['sleep', '1000'], KEPT));
    // Clients that know nothing of leases see what they always saw.
    expect(await other.client.call('process/list')).toEqual({ processes: [] });
    expect(await other.client.call('process/terminate', { processId: 'p' })).toEqual({ running: false });
    expect(await other.client.refusal('process/read', { processId: 'p' })).toBe(-32600);
    await other.client.call('process/start', startParams('p', ['sleep', '1000']));
    const refused = [
      await other.client.ask('process/attach', { processId: 'p' }),
      await client.ask('process/start', startParams('p', ['true'])),
      await client.ask('process/start', startParams('p', ['true'], KEPT)),
      await other.client.ask('process/start', startParams('q', ['true'], { lease: -1 })),
      await other.client.ask('process/start', startParams('', ['true'], KEPT)),
      await other.client.ask('process/attach', { processId: 'nobody' }),
      await other.client.ask('process/wait', { processId: 'nobody' }),
    ];
    expect(refused.map(({ error }) => error?.data?.code)).toEqual([
      'processIdInUse',
      'processIdInUse',
      'processIdInUse',
      'invalidParams',
      'invalidParams',
      'processNotFound',
      'processNotFound',
    ]);
    expect(await other.client.call('process/terminate', { processId: 'p', sessionId: 'kept' })).toEqual({
      running: true,
    });
    expect(await client.call('process/wait', { processId: 'p' })).toMatchObject({ signal: 'SIGKILL' });
  });

  test('answers who waits once, also after its end and in another session', async () => {
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    const other = await connect(server.urls[0]);
    await client.call('process/start', startParams('p', sh('read line; exit 7'), KEPT));
    const waiting = other.client.ask('process/wait', { processId: 'p' });
    await type(client, 'p', '\n');
    const end = { exitCode: 7, signal: null, timedOut: false, sandboxDenied: false };
    expect((await waiting).result).toEqual(end);
    endSession(client);
    expect(await other.client.call('process/wait', { processId: 'p' })).toEqual(end);
    // An id is free again once its process has ended.
    await other.client.call('process/start', startParams('p', sh('exit 8'), KEPT));
    expect(await other.client.call('process/wait', { processId: 'p' })).toMatchObject({ exitCode: 8 });
  });

  test('is typed into once, however often a write is repeated in a resumed session', async () => {
    await using server = await serve();
    const first = await connect(server.urls[0]);
    await first.client.call('process/start', startParams('p', ['cat'], KEPT));
    await type(first.client, 'p', 'once', 'w1');
    await shows(first.client, 'p', 'once');
    first.drop();
    const { sessionId: resumeSessionId } = first;
    const again = await untilResumed(String(server.urls[0]), resumeSessionId);
    expect(await type(again, 'p', 'once', 'w1')).toEqual({ status: 'accepted' });
    await type(again, 'p', '.', 'w2');
    await shows(again, 'p', '.');
    const { chunks } = await again.call('process/read', { processId: 'p' });
    const texts = (chunks as { chunk: string }[]).map(({ chunk }) => Buffer.from(chunk, 'base64').toString());
    expect(texts.join('')).toBe('once.');
  });
});

/** A session is busy until its server has noticed that the old connection is gone. */
async function untilResumed(url: string, resumeSessionId: string): Promise<WireClient> {
  for (;;) {
    const { client } = await dialWire(url);
    const answer = await client.ask('initialize', { clientName: 'again', resumeSessionId });
    if (answer.result) {
      client.send('{"method":"initialized","params":{}}');
      return client;
    }
    client.close();
  }
}

describe('several clients', () => {
  const FLOOD = sh('head -c 4000000 /dev/zero');

  test('a viewer that does not keep up delays nobody, and finds a gap in the numbers', async () => {
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    const viewer = await connect(server.urls[0], { capabilities: { flowControl: true } });
    const script = sh('read line; head -c 4000000 /dev/zero');
    await client.call('process/start', startParams('p', script, KEPT));
    await viewer.client.call('process/attach', { processId: 'p', mayPause: false });
    await type(client, 'p', 'go\n');
    // It never acknowledges anything. The first client gets everything all the same.
    await client.closedEvents('p');
    expect(client.output('p')).toHaveLength(4_000_000);
    const sent = viewer.client.output('p').length;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(2_000_000);
    const last = Number(viewer.client.events('p').at(-1)?.params.seq);
    viewer.client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq: last } }));
    await viewer.client.until(
      () => Number(viewer.client.events('p').at(-1)?.params.seq) > last + 1 || undefined,
    );
    const read = await viewer.client.call('process/read', { processId: 'p', afterSeq: last });
    const [chunk] = read['chunks'] as { lostBytes: number }[];
    expect(chunk?.lostBytes).toBeGreaterThan(500_000);
  });

  test('a client that does not acknowledge loses nothing, however much comes at once', async () => {
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    await client.call('process/start', startParams('p', sh('head -c 60000000 /dev/zero'), KEPT));
    await client.closedEvents('p');
    expect(client.output('p')).toHaveLength(60_000_000);
  });

  test('the program waits for the first client, and for the next when that one goes', async () => {
    // So little is kept that a program which does not wait is always ahead of what a client has acknowledged.
    await using server = await serve({ retainedBytes: 4096 });
    const flowControl = { capabilities: { flowControl: true } };
    const first = await connect(server.urls[0], flowControl);
    const second = await connect(server.urls[0], flowControl);
    const script = sh('read line; head -c 4000000 /dev/zero');
    await first.client.call('process/start', startParams('p', script, KEPT));
    await second.client.call('process/attach', { processId: 'p' });
    await first.client.call('process/detach', { processId: 'p' });
    await type(second.client, 'p', 'go\n');
    // The second one acknowledges as it goes, and misses nothing.
    let acknowledged = 0;
    await second.client.until(() => {
      const seq = second.client.events('p').at(-1)?.params.seq ?? 0;
      if (seq > acknowledged)
        second.client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq } }));
      acknowledged = Math.max(acknowledged, seq);
      return second.client.events('p').at(-1)?.method === 'process/closed' || undefined;
    });
    const numbers = second.client.events('p').map(({ params }) => params.seq);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(second.client.output('p')).toHaveLength(4_000_000);
  });

  test('one that has lost its connection holds nothing up once another is there', async () => {
    await using server = await serve();
    const first = await connect(server.urls[0], { capabilities: { flowControl: true } });
    await first.client.call('process/start', startParams('p', FLOOD, KEPT));
    await first.client.until(() => first.client.events('p').length > 0 || undefined);
    first.drop();
    const second = await connect(server.urls[0]);
    // The first session is not over yet: its lease is 30 s.
    const waiting = second.client.ask('process/wait', { processId: 'p' });
    for (let ended = false; !ended; ) {
      await second.client.call('process/attach', { processId: 'p', fromEnd: true });
      ended = await Promise.race([
        waiting.then(() => true),
        second.client.call('environment/status').then(() => false),
      ]);
    }
    expect((await waiting).result).toMatchObject({ exitCode: 0 });
  });
});

describe('limits', () => {
  test('running ones are counted per server, ended ones give way', async () => {
    await using server = await serve({ maxKeptProcesses: 2 });
    const { client } = await connect(server.urls[0]);
    const start = (id: string, argv: string[]) => client.ask('process/start', startParams(id, argv, KEPT));
    await start('a', ['cat']);
    await start('b', ['cat']);
    expect((await start('c', ['cat'])).error?.data?.code).toBe('tooManyKeptProcesses');
    await client.call('process/terminate', { processId: 'a' });
    await client.call('process/wait', { processId: 'a' });
    expect((await start('c', ['cat'])).result).toBeDefined();
  });

  test('256 ended ones can be read', async () => {
    await using server = await serve();
    const { client } = await connect(server.urls[0]);
    for (let number = 0; number < 258; number += 1) {
      await client.call('process/start', startParams(`p${number}`, ['true'], KEPT));
      await client.call('process/wait', { processId: `p${number}` });
      await client.call('process/detach', { processId: `p${number}` });
    }
    const { processes } = await client.call('process/list', { scope: 'server' });
    const ids = (processes as { processId: string }[]).map(({ processId }) => processId);
    expect(ids).toEqual(Array.from({ length: 256 }, (_, index) => `p${index + 2}`));
  });
});
