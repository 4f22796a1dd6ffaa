import { describe, expect, test } from 'vitest';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { gone, stubbornTree, TestFolder } from '../harness/processes.js';
import { ServerProcess, StdioServer } from '../../testkit/server-process.mjs';
import { dialWire, outputOf, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';

const mark = (name: string): string => `mark-${name}-${process.pid}-${Date.now()}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Resumes as soon as the server has noticed that the old connection is gone. */
async function resume(url: string, sessionId: string, capabilities?: unknown): Promise<WireClient> {
  const { client } = await dialWire(url);
  for (;;) {
    const { result, error } = await client.ask('initialize', {
      clientName: 'again',
      resumeSessionId: sessionId,
      capabilities,
    });
    if (result) break;
    expect(error?.code).toBe(-32010);
  }
  client.send('{"method":"initialized"}');
  return client;
}

describe('sessions', () => {
  test('ids are private, a busy session stays where it is, an unknown one is refused', async () => {
    await using server = await ServerProcess.start();
    const { client: first } = await dialWire(server.url);
    const { client: second } = await dialWire(server.url);
    const sessionId = await first.handshake();
    expect(
      (await second.ask('initialize', { clientName: 'x', resumeSessionId: sessionId })).error,
    ).toMatchObject({ code: -32010, data: { code: 'sessionBusy' } });
    expect(await second.refusal('initialize', { clientName: 'x', resumeSessionId: 'unknown' })).toBe(-32600);
    await second.handshake();
    await first.call('process/start', startParams('p', ['sleep', '1000']));
    expect(await second.refusal('process/read', { processId: 'p' })).toBe(-32600);
    await second.call('process/start', startParams('p', ['true']));
    await second.closedEvents('p');
  });

  test('a resumed session goes on: processes, numbers, write ids', async () => {
    await using server = await ServerProcess.start();
    const { client: first, socket } = await dialWire(server.url);
    const sessionId = await first.handshake();
    await first.call('process/start', startParams('p', ['cat'], { pipeStdin: true }));
    await first.call('process/write', { processId: 'p', chunk: base64('one\n'), writeId: '1' });
    await first.until(() => first.output('p').toString() === 'one\n');
    socket.terminate();

    const second = await resume(server.url, sessionId);
    await second.call('process/write', { processId: 'p', chunk: base64('one\n'), writeId: '1' });
    await second.call('process/write', { processId: 'p', chunk: base64('two\n'), writeId: '2' });
    await second.call('process/closeStdin', { processId: 'p' });
    const events = await second.closedEvents('p');
    expect(events.map(({ params }) => params.seq)).toEqual([2, 3, 4]);
    expect(outputOf(events).toString()).toBe('two\n');
    const { chunks } = await second.call('process/read', { processId: 'p', afterSeq: 0 });
    expect(chunks).toEqual([
      { seq: 1, stream: 'stdout', chunk: base64('one\n') },
      { seq: 2, stream: 'stdout', chunk: base64('two\n') },
    ]);
  });

  test('a half-open connection gives its session up when somebody asks for it', async () => {
    await using server = await ServerProcess.start();
    const { client, socket } = await dialWire(server.url);
    const sessionId = await client.handshake();
    // A client that neither reads nor answers pings, as behind a dead network.
    socket.pause();
    const second = await resume(server.url, sessionId);
    expect(await second.call('environment/status')).toEqual({ status: 'ready' });
    socket.terminate();
  });

  test('without a connection output is let go, and the reader is told how much and where', async () => {
    await using server = await ServerProcess.start();
    const { client: first, socket } = await dialWire(server.url);
    const sessionId = await first.handshake();
    using folder = new TestFolder();
    const script = `printf start; until [ -e ${folder.file('go')} ]; do sleep 0.01; done; head -c 5000000 /dev/zero; echo x > ${folder.file('done')}; sleep 1000`;
    await first.call('process/start', startParams('p', sh(script)));
    await first.until(() => first.output('p').toString() === 'start');
    socket.terminate();
    const { writeFileSync } = await import('node:fs');
    writeFileSync(folder.file('go'), 'x');
    await folder.appears('done');

    const second = await resume(server.url, sessionId);
    const { chunks } = (await second.call('process/read', { processId: 'p', afterSeq: 1 })) as {
      chunks: { seq: number; chunk: string; lostBytes?: number }[];
    };
    const kept = chunks.reduce((sum, { chunk }) => sum + Buffer.from(chunk, 'base64').length, 0);
    expect(kept).toBeLessThanOrEqual(1024 * 1024);
    expect(kept).toBeGreaterThan(900_000);
    expect((chunks[0]?.lostBytes ?? 0) + kept).toBe(5_000_000);
    expect(chunks.slice(1).every(({ lostBytes }) => lostBytes === undefined)).toBe(true);
  });

  test('a client that acknowledges loses nothing, however often it is cut off', async () => {
    await using server = await ServerProcess.start();
    await using proxy = await FaultProxy.to(server.url);
    const capabilities = { flowControl: true };
    const total = 30_000_000;
    const { client: first } = await dialWire(proxy.url);
    let client = first;
    const sessionId = await client.handshake({ capabilities });
    await client.call('process/start', startParams('p', sh(`yes 0123456789abcdef | head -c ${total}`)));
    const pieces = new Map<number, Buffer>();
    let last = 0;
    let closed = false;
    let cuts = 0;
    let nextCut = 400_000;
    const take = (seq: number, chunk?: string): void => {
      if (seq !== last + 1) return;
      if (chunk !== undefined) pieces.set(seq, Buffer.from(chunk, 'base64'));
      last = seq;
    };
    while (!closed) {
      for (const { method, params } of client.events('p')) {
        take(params.seq, method === 'process/output' ? String(params.chunk) : undefined);
        if (method === 'process/closed' && last === params.seq) closed = true;
      }
      client.arrivals.length = 0;
      if (closed) break;
      client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq: last } }));
      if (cuts < 50 && proxy.bytesToClients > nextCut) {
        cuts += 1;
        nextCut = proxy.bytesToClients + 200_000 + ((cuts * 7919) % 400_000);
        proxy.cut();
        client = await resume(proxy.url, sessionId, capabilities);
        const { chunks } = (await client.call('process/read', { processId: 'p', afterSeq: last })) as {
          chunks: { seq: number; chunk: string; lostBytes?: number }[];
        };
        for (const { seq, chunk, lostBytes } of chunks) {
          expect(lostBytes).toBeUndefined();
          take(seq, chunk);
        }
        const { nextSeq, closed: over } = await client.call('process/read', {
          processId: 'p',
          afterSeq: last,
        });
        if (over && Number(nextSeq) === last + 3) closed = true;
        client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq: last } }));
      } else {
        const seen = client.arrivals.length;
        await client.until(() => client.arrivals.length > seen || undefined);
      }
    }
    // How many fit in depends on how much arrives between two of them.
    expect(cuts).toBeGreaterThan(40);
    const output = Buffer.concat([...pieces.values()]);
    expect(output.length).toBe(total);
    expect(output.equals(Buffer.alloc(total, '0123456789abcdef\n'))).toBe(true);
  }, 60_000);
});

describe('nothing is left behind', () => {
  const tree = async (client: WireClient, folder: TestFolder, name: string): Promise<void> => {
    await client.call('process/start', startParams('p', sh(stubbornTree(name, folder.file('ready')))));
    await folder.appears('ready');
  };

  test('when a session’s lease is over', async () => {
    await using server = await ServerProcess.start({ args: ['--session-ttl', '1'] });
    using folder = new TestFolder();
    const { client, socket } = await dialWire(server.url);
    const sessionId = await client.handshake();
    const name = mark('lease');
    await tree(client, folder, name);
    socket.terminate();
    await gone(name);
    const { client: late } = await dialWire(server.url);
    expect(await late.refusal('initialize', { clientName: 'x', resumeSessionId: sessionId })).toBe(-32600);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('when the server gets %s', async (signal) => {
    await using server = await ServerProcess.start();
    using folder = new TestFolder();
    const { client } = await dialWire(server.url);
    await client.handshake();
    const name = mark(signal);
    await tree(client, folder, name);
    await server.stop(signal);
    await gone(name);
  });

  test.each(['end of stdin', 'SIGTERM'])('when a stdio server sees %s', async (how) => {
    await using server = new StdioServer();
    using folder = new TestFolder();
    await server.client.handshake();
    const name = mark('stdio');
    await tree(server.client, folder, name);
    if (how === 'SIGTERM') server.child.kill('SIGTERM');
    else server.child.stdin.end();
    expect(await server.exit).toEqual([0, null]);
    await gone(name);
  });

  test('what a finished command left in the background dies with its session', async () => {
    await using server = await ServerProcess.start({ args: ['--session-ttl', '1'] });
    using folder = new TestFolder();
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    const name = mark('background');
    const daemon = `setsid sh -c 'echo x > ${folder.file('up')}; sleep 1000; :' ${name} </dev/null >/dev/null 2>&1 &`;
    await client.call('process/start', startParams('p', sh(daemon)));
    await client.closedEvents('p');
    await folder.appears('up');
    expect(await client.call('process/terminate', { processId: 'p' })).toEqual({ running: false });
    socket.terminate();
    await gone(name);
  });
});
