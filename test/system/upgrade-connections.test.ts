// Needs: openssl
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/index.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { makeCertificate } from '../harness/certificate.js';
import { DurableServer } from '../harness/durable-server.js';
import { pidsWithArgument, TestFolder } from '../harness/processes.js';
import { runUpgrade } from '../harness/upgrade.js';

const SLOW = { timeout: 90_000 };
const ACKNOWLEDGES = { capabilities: { flowControl: true } };

async function upgraded(url: string): Promise<void> {
  expect(await runUpgrade(url)).toMatchObject({ code: 0, stderr: '' });
}

async function introduced(url: string, options: object = {}): Promise<WireClient> {
  const { client } = await dialWire(url);
  await client.handshake(options);
  return client;
}

let written = 0;

function type(client: WireClient, processId: string, text: string): Promise<unknown> {
  written += 1;
  const chunk = Buffer.from(text).toString('base64');
  return client.call('process/write', { processId, chunk, writeId: `w${written}` });
}

describe('an upgrade keeps the connection', () => {
  test('of a client that never learns of it', SLOW, async () => {
    await using server = await DurableServer.start();
    const client = await introduced(server.url);
    await client.call('process/start', startParams('flood', sh('seq 1 300000; exit 9')));
    await client.call('process/start', startParams('cat', ['cat'], { pipeStdin: true }));
    for (let round = 1; round <= 3; round += 1) {
      const upgrade = upgraded(server.url);
      for (let line = 0; line < 100; line += 1) await type(client, 'cat', `${round}.${line}\n`);
      await upgrade;
    }
    await client.call('process/closeStdin', { processId: 'cat' });
    const [flood, cat] = [await client.closedEvents('flood'), await client.closedEvents('cat')];
    expect(flood.map(({ params }) => params.seq)).toEqual(flood.map((_, index) => index + 1));
    const numbers = Array.from({ length: 300_000 }, (_, index) => index + 1).join('\n');
    expect(client.output('flood').toString()).toBe(`${numbers}\n`);
    expect(flood.at(-2)?.params['exitCode']).toBe(9);
    expect(cat.map(({ params }) => params.seq)).toEqual(cat.map((_, index) => index + 1));
    expect(client.output('cat').toString().split('\n').length).toBe(301);
    expect(client.closed).toBeUndefined();
  });

  test('and answers what was asked before', SLOW, async () => {
    await using server = await DurableServer.start();
    const client = await introduced(server.url);
    await client.call('process/start', startParams('cat', ['cat'], { pipeStdin: true, lease: 'kept' }));
    const read = client.ask('process/read', { processId: 'cat', waitMs: 60_000 });
    const end = client.ask('process/wait', { processId: 'cat' });
    await upgraded(server.url);
    await type(client, 'cat', 'after\n');
    expect((await read).result).toMatchObject({ chunks: [{ seq: 1 }] });
    await client.call('process/closeStdin', { processId: 'cat' });
    expect((await end).result).toMatchObject({ exitCode: 0 });
    expect(client.closed).toBeUndefined();
  });

  test('of a client that has not read or acknowledged what it was sent', SLOW, async () => {
    await using server = await DurableServer.start();
    const { client, socket } = await dialWire(server.url);
    await client.handshake(ACKNOWLEDGES);
    await client.call('process/start', startParams('p', sh('seq 1 1000000')));
    await client.until(() => client.output('p').length > 0);
    socket.pause();
    await upgraded(server.url);
    socket.resume();
    const acknowledge = setInterval(() => {
      const seq = client.events('p').at(-1)?.params.seq;
      client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq } }));
    }, 10);
    const events = await client.until(() => {
      const all = client.events('p');
      return all.at(-1)?.method === 'process/closed' ? all : undefined;
    });
    clearInterval(acknowledge);
    expect(events.map(({ params }) => params.seq)).toEqual(events.map((_, index) => index + 1));
    expect(client.output('p').toString().split('\n').length).toBe(1_000_001);
  });

  test('of a client that reads nothing for as long as it takes, twice', SLOW, async () => {
    await using server = await DurableServer.start();
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    const lines = 2_999_983;
    await client.call('process/start', startParams('p', sh(`seq 1 ${lines}; exit 7`)));
    await client.until(() => client.output('p').length > 0);
    socket.pause();
    for (let round = 0; round < 2; round += 1) {
      await waitsForReader(String(lines));
      await upgraded(server.url);
    }
    socket.resume();
    const events = await client.closedEvents('p');
    expect(client.closed).toBeUndefined();
    expect(events.map(({ params }) => params.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-2)?.params['exitCode']).toBe(7);
    const numbers = Array.from({ length: lines }, (_, index) => index + 1).join('\n');
    expect(client.output('p').toString() === `${numbers}\n`).toBe(true);
  });

  test('of clients in the middle of a message', SLOW, async () => {
    await using server = await DurableServer.start();
    // Longer than what a short frame holds, so that the length is in bytes of its own.
    const text = `{"id":2,"method":"environment/status","params":null,"padding":"${'x'.repeat(300)}"}`;
    const request = frame(text);
    const clients = [1, 2, 3, 5, 7, 9, 40].map(async (cut) => {
      const socket = await rawWebSocket(server.url);
      const said = answers(socket);
      socket.write(frame('{"id":1,"method":"initialize","params":{"clientName":"raw"}}'));
      await said('"id":1');
      socket.write(frame('{"method":"initialized","params":{}}'));
      socket.write(request.subarray(0, cut));
      return { socket, said, rest: request.subarray(cut) };
    });
    const begun = await Promise.all(clients);
    await upgraded(server.url);
    for (const { socket, said, rest } of begun) {
      socket.write(rest);
      await said('{"id":2,"result":{"status":"ready"}}');
      socket.destroy();
    }
  });

  test('of more clients than a message to the keeper has room for', SLOW, async () => {
    await using server = await DurableServer.start();
    const clients = await Promise.all(Array.from({ length: 400 }, () => introduced(server.url)));
    await upgraded(server.url);
    for (const client of clients)
      expect(await client.call('environment/status', null)).toEqual({ status: 'ready' });
    expect(clients.filter(({ closed }) => closed !== undefined)).toEqual([]);
  });

  test('of a client that is still connecting when it begins', SLOW, async () => {
    await using server = await DurableServer.start();
    const head = headOf(server.url);
    const socket = rawConnection(server.url);
    const said = answers(socket);
    socket.write(head.slice(0, 60));
    const upgrade = upgraded(server.url);
    // It is being waited for, and nobody can tell from outside.
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.write(head.slice(60));
    await said('101 Switching Protocols');
    socket.write(frame('{"id":1,"method":"initialize","params":{"clientName":"raw"}}'));
    await said('"id":1');
    socket.write(frame('{"method":"initialized","params":{}}'));
    await upgrade;
    socket.write(frame('{"id":2,"method":"environment/status","params":null}'));
    await said('{"id":2,"result":{"status":"ready"}}');
    socket.destroy();
  });

  test('unless it has a file open: that client comes back', SLOW, async () => {
    await using server = await DurableServer.start();
    const client = await introduced(server.url);
    const open = { handleId: 'h', path: 'file:///etc/passwd', mode: 'read' };
    await client.call('fs/open', open);
    const other = await introduced(server.url);
    await upgraded(server.url);
    await client.untilClosed();
    expect(await other.call('environment/status', null)).toEqual({ status: 'ready' });
  });

  test('or is encrypted: that client comes back, too', SLOW, async () => {
    using folder = new TestFolder();
    const [cert, key] = makeCertificate(folder);
    const tls = ['--tls-cert', cert, '--tls-key', key, '--listen', 'wss://127.0.0.1:0'];
    const args = ['--durable', folder.file('state'), ...tls, '--log-level', 'silent'];
    await using server = await ServerProcess.start({ args });
    const { client } = await dialWire(server.url, { rejectUnauthorized: false });
    const id = await client.handshake();
    await client.call('process/start', startParams('cat', ['cat'], { pipeStdin: true }));
    await client.call('server/upgrade', {});
    await client.untilClosed();
    const { client: again } = await dialWire(server.url, { rejectUnauthorized: false });
    await again.handshake({ resumeSessionId: id });
    await type(again, 'cat', 'still\n');
    await again.until(() => again.output('cat').includes('still') || undefined);
  });
});

test('a request that does not end holds an upgrade up for a moment only', SLOW, async () => {
  await using server = await DurableServer.start();
  const client = await introduced(server.url);
  // The program never reads, so the answer waits for room.
  await client.call('process/start', startParams('deaf', ['sleep', '1000'], { pipeStdin: true }));
  const chunk = Buffer.alloc(2 * 1024 * 1024, 'x').toString('base64');
  void client.ask('process/write', { processId: 'deaf', chunk, writeId: 'w1' }).catch(() => undefined);
  await using environment = await openEnvironment(server.url);
  await upgraded(server.url);
  await client.untilClosed();
  expect(await (await environment.start({ argv: ['echo', 'on'], cwd: '/' })).text()).toBe('on\n');
});

/** Resolves when the program with this argument has printed what fits anywhere, and waits. */
async function waitsForReader(argument: string): Promise<void> {
  const written = (): string =>
    pidsWithArgument(argument)
      .map((pid) => readFileSync(`/proc/${pid}/io`, 'utf8').split('\n', 2).join(' '))
      .join(' ');
  for (let [last, now] = ['', written()]; last !== now; now = written()) {
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

/** What a WebSocket begins with. */
function headOf(url: string): string {
  const key = Buffer.alloc(16).toString('base64');
  const head = ['GET / HTTP/1.1', `host: ${new URL(url).host}`, 'upgrade: websocket', 'connection: upgrade'];
  return [...head, `sec-websocket-key: ${key}`, 'sec-websocket-version: 13', '', ''].join('\r\n');
}

function rawConnection(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  return socket;
}

/** A WebSocket spoken by hand. */
async function rawWebSocket(url: string): Promise<Socket> {
  const socket = rawConnection(url);
  socket.write(headOf(url));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toContain('101 Switching Protocols');
  return socket;
}

/** A masked text frame, as clients send them. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const mask = Buffer.of(1, 2, 3, 4);
  const length = payload.length < 126 ? Buffer.of(0x80 | payload.length) : Buffer.of(0x80 | 126, 0, 0);
  if (payload.length >= 126) length.writeUInt16BE(payload.length, 1);
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return Buffer.concat([Buffer.of(0x81), length, mask, masked]);
}

/** Returns a function that waits until a text has arrived. */
function answers(socket: Socket): (text: string) => Promise<void> {
  let all = '';
  socket.on('data', (data: Buffer) => {
    all += data.toString('latin1');
  });
  return async (text) => {
    while (!all.includes(text)) await once(socket, 'data');
  };
}
