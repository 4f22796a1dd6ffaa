import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { AppClient } from '../../testkit/app-client.mjs';
import { WebSocketApp } from '../../testkit/app-server.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';
import { computedUntil, delayUntil } from '../harness/processor-time.js';
import { peakMb, residentMb } from './memory.js';
import { isLong } from './tally.js';

const MB = 1_000_000;
/** Requests somebody sends whose answers he does not read. */
const REQUESTS = isLong ? 3_000 : 1_000;
/** What such a client may cost the server, everything included. Far below what the answers add up to. */
const MAX_GROWTH_MB = 150;
/** What another client notices of it. */
const MAX_DELAY_MS = 50;

/** Asks and does not read the answers. */
class DeafClient {
  readonly socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.socket = socket;
  }

  static async open(url: string, prepare: (client: WireClient) => Promise<void>): Promise<DeafClient> {
    const { client, socket } = await dialWire(url);
    await prepare(client);
    // As somebody who is gone without a word: the kernel keeps what it has room for, the server the rest.
    socket.pause();
    return new DeafClient(socket);
  }

  ask(method: string, params: unknown, count: number): void {
    for (let id = 0; id < count; id += 1) this.socket.send(JSON.stringify({ id, method, params }));
  }
}

/**
 * Asks for something small for a while. Resolves to what the server computed for others first, nine times out of ten, and to
 * how long it took, half of the time.
 */
async function waitsOf(
  { client, pid }: { client: WireClient; pid: number },
  method: string,
  params: unknown,
): Promise<{ computedMs: number; delayMs: number }> {
  const computed: number[] = [];
  const delays: number[] = [];
  for (let count = 0; count < 100; count += 1) {
    const answered = (): Promise<unknown> => client.ask(method, params);
    computed.push(await computedUntil(pid, async () => void delays.push(await delayUntil(pid, answered))));
  }
  return { computedMs: percentile(computed, 90), delayMs: percentile(delays, 50) };
}

function percentile(values: number[], percent: number): number {
  return (
    values.sort((a, b) => a - b)[Math.floor((values.length * percent) / 100)] ?? Number.POSITIVE_INFINITY
  );
}

function expectShort(waits: { computedMs: number; delayMs: number }): void {
  expect(waits.computedMs).toBeLessThan(MAX_DELAY_MS);
  expect(waits.delayMs).toBeLessThan(MAX_DELAY_MS);
}

describe('somebody who asks for much and reads nothing', () => {
  const readFile = (folder: TestFolder): [string, unknown] => {
    writeFileSync(folder.file('file'), Buffer.alloc(MB, 'x'));
    return ['fs/readFile', { path: pathToFileURL(folder.file('file')).href }];
  };
  const readLargeFile = (folder: TestFolder): [string, unknown] => {
    writeFileSync(folder.file('file'), Buffer.alloc(3 * MB, 'x'));
    return ['fs/readFile', { path: pathToFileURL(folder.file('file')).href }];
  };
  const readDirectory = (folder: TestFolder): [string, unknown] => {
    mkdirSync(folder.file('directory'));
    for (let index = 0; index < 5_000; index += 1)
      writeFileSync(folder.file(`directory/${'name'.repeat(40)}-${index}`), '');
    return ['fs/readDirectory', { path: pathToFileURL(folder.file('directory')).href }];
  };
  const searchFiles = (folder: TestFolder): [string, unknown] => {
    mkdirSync(folder.file('directory'));
    for (let index = 0; index < 2_000; index += 1) writeFileSync(folder.file(`directory/${index}`), 'text');
    return ['fs/search', { path: pathToFileURL(folder.file('directory')).href, pattern: 'nowhere' }];
  };
  const readOutput = (): [string, unknown] => ['process/read', { processId: 'p' }];
  const waitForOutput = (): [string, unknown] => ['process/read', { processId: 'late', waitMs: 60_000 }];

  test.each([
    ['files', readFile],
    ['large files', readLargeFile],
    ['directories', readDirectory],
    ['searches', searchFiles],
    ['output', readOutput],
    ['output after a while', waitForOutput],
  ])('costs a bounded amount of memory and nobody else time: %s', async (_what, requestFor) => {
    using folder = new TestFolder();
    await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
    const [method, params] = requestFor(folder);
    const { client: other } = await dialWire(server.url);
    await other.handshake();
    const deaf = await DeafClient.open(server.url, async (client) => {
      await client.handshake();
      await client.call('process/start', startParams('p', ['head', '-c', String(MB), '/dev/zero']));
      await client.closedEvents('p');
      const late = ['sh', '-c', `read x; head -c ${MB} /dev/zero; sleep 1000`];
      await client.call('process/start', startParams('late', late, { pipeStdin: true }));
    });
    const before = residentMb(server.pid);
    deaf.ask(method, params, REQUESTS);
    // All who wait for output have it at the same time.
    deaf.ask('process/write', { processId: 'late', writeId: '1', chunk: 'eAo=' }, 1);
    expectShort(await waitsOf({ client: other, pid: server.pid }, 'environment/status', {}));
    expect(peakMb(server.pid) - before).toBeLessThan(MAX_GROWTH_MB);
    deaf.socket.terminate();
    // What waited is given up with whoever asked for it.
    expect(await other.call('environment/status')).toEqual({ status: 'ready' });
  });

  test.each([
    ['files', 'fs/readFile', (path: string) => ({ path }), { count: 1_000, growthMb: MAX_GROWTH_MB }],
    // Those that run at the same time have pipes and buffers, too.
    [
      'output',
      'command/exec',
      (path: string) => ({ command: ['cat', path] }),
      { count: isLong ? 500 : 300, growthMb: 300 },
    ],
  ])('costs an app server no more: %s', async (_what, method, paramsFor, { count, growthMb }) => {
    using folder = new TestFolder();
    writeFileSync(folder.file('file'), Buffer.alloc(MB, 'x'));
    await using server = await WebSocketApp.start();
    const { client } = await dialWire(server.url);
    await new AppClient(client).initialize();
    const deaf = await DeafClient.open(server.url, async (wire) => {
      await new AppClient(wire).initialize();
    });
    const pid = server.child.pid ?? -1;
    const before = residentMb(pid);
    // More are refused as too many at a time.
    deaf.ask(method, paramsFor(folder.file('file')), count);
    expectShort(await waitsOf({ client, pid }, 'fs/getMetadata', { path: '/' }));
    expect(peakMb(pid) - before).toBeLessThan(growthMb);
    deaf.socket.terminate();
  });

  test('can still end his programs, and gets all answers once he reads', async () => {
    using folder = new TestFolder();
    const [method, params] = readFile(folder);
    await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
    const { client: other } = await dialWire(server.url);
    await other.handshake();
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    await client.call('process/start', startParams('p', ['sh', '-c', 'trap "" HUP; sleep 1000']));
    const { processes } = await client.call('process/list');
    const [{ pid }] = processes as [{ pid: number }];
    socket.pause();
    const few = 100;
    for (let id = 0; id < few; id += 1) socket.send(JSON.stringify({ id, method, params }));
    socket.send(JSON.stringify({ id: 'end', method: 'process/terminate', params: { processId: 'p' } }));
    // The program ends while its answer waits behind those nobody reads.
    await expect.poll(() => isAlive(pid)).toBe(false);
    socket.resume();
    for (let id = 0; id < few; id += 1) {
      const { result } = await client.answerTo(id);
      expect(String(result?.dataBase64).length).toBe(Math.ceil(MB / 3) * 4);
    }
    expect(await client.answerTo('end')).toMatchObject({ result: { running: true } });
    socket.terminate();
  });

  test('cannot make many hold a little each and a reader wait for it', async () => {
    using folder = new TestFolder();
    const [method, params] = readFile(folder);
    await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
    const { client: other } = await dialWire(server.url);
    await other.handshake();
    const before = residentMb(server.pid);
    const deaf = await Promise.all(
      Array.from({ length: 60 }, () =>
        DeafClient.open(server.url, async (client) => void (await client.handshake())),
      ),
    );
    for (const each of deaf) each.ask(method, params, isLong ? 50 : 20);
    expectShort(await waitsOf({ client: other, pid: server.pid }, 'environment/status', {}));
    // Somebody who reads gets what he asks for, although the others together use up what there is.
    for (let count = 0; count < (isLong ? 20 : 5); count += 1)
      expect(String((await other.call(method, params)).dataBase64).length).toBe(Math.ceil(MB / 3) * 4);
    expect(peakMb(server.pid) - before).toBeLessThan(256 + 60 * 3 + MAX_GROWTH_MB);
    for (const each of deaf) each.socket.terminate();
  });
});

describe('somebody who sends much that waits', () => {
  test('input for programs that do not read is bounded over all of them, and they can be ended', async () => {
    await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    const ids = Array.from({ length: 8 }, (_, index) => `p${index}`);
    for (const id of ids)
      await client.call('process/start', startParams(id, ['sleep', '1000'], { pipeStdin: true }));
    const before = residentMb(server.pid);
    const chunk = Buffer.alloc(MB, 'x').toString('base64');
    for (let round = 0; round < 20; round += 1)
      for (const processId of ids)
        socket.send(
          JSON.stringify({
            id: `${processId}-${round}`,
            method: 'process/write',
            params: { processId, writeId: String(round), chunk },
          }),
        );
    const refused = await client.until(() =>
      client.arrivals.find((each) => 'error' in each && each.error?.data?.code === 'stdinFull'),
    );
    expect(refused).toBeDefined();
    expect(peakMb(server.pid) - before).toBeLessThan(MAX_GROWTH_MB + 64);
    for (const processId of ids)
      expect(await client.call('process/terminate', { processId })).toEqual({ running: true });
    socket.terminate();
  });

  test('an id of a megabyte is no id', async () => {
    await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    const id = 'i'.repeat(1022);
    client.send(JSON.stringify({ id, method: 'environment/status' }));
    expect(await client.answerTo(id)).toMatchObject({ result: { status: 'ready' } });
    client.send(JSON.stringify({ id: `${id}i`, method: 'environment/status' }));
    expect(await client.answerTo(-1)).toMatchObject({ error: { code: -32600 } });
    socket.terminate();
    await once(socket, 'close');
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
