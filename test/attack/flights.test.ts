import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';
import { seededRandom } from '../harness/random.js';
import { serve } from '../harness/serve.js';
import { tally, tries } from './tally.js';

const HELLO = { clientName: 'test', resumeSessionId: null, capabilities: { ahead: true, flowControl: true } };

const AT_A_TIME = 40;

/** A text as a client's frame, masked with zeros. */
function frame(message: object): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff];
  const [first = 0, ...rest] = length;
  return Buffer.concat([Buffer.from([0x81, 0x80 | first, ...rest, 0, 0, 0, 0]), payload]);
}

function hello(params: object = HELLO): Buffer {
  return frame({ id: 1, method: 'initialize', params });
}

const ready = frame({ method: 'initialized', params: {} });

/** A program that leaves a line in a file each time it runs. */
function start(file: string): Buffer {
  return frame({ id: 2, method: 'process/start', params: startParams('p', sh(`echo ran >> ${file}`)) });
}

async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const key = randomBytes(16).toString('base64');
  const upgrade = `Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}`;
  socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${upgrade}\r\n\r\n`);
  await once(socket, 'data');
  return socket.resume();
}

/** Sends bytes and hangs up. Resolves when the server has, too, and has read all of it before. */
async function throwAt(port: number, bytes: Buffer): Promise<void> {
  const socket = await dial(port);
  const over = once(socket, 'close');
  socket.end(bytes);
  await over;
}

test('a flight that is cut anywhere runs nothing, and a whole one runs its program once', async () => {
  using folder = new TestFolder();
  await using server = await serve({ sessionTtlMs: 1 });
  const flight = Buffer.concat([hello(), ready, start(folder.file('cut'))]);
  // Spread evenly; where as many are asked for, behind every byte but the last.
  const count = Math.min(tries(80), flight.length - 1);
  const cuts = Array.from({ length: count }, (_, index) =>
    Math.round(((index + 1) * (flight.length - 1)) / count),
  );
  while (cuts.length > 0) {
    const some = cuts.splice(0, AT_A_TIME);
    await Promise.all(some.map((end) => throwAt(server.port, flight.subarray(0, end))));
  }
  const successes = existsSync(folder.file('cut')) ? 1 : 0;
  tally('flights cut', { tries: count, successes });
  expect(successes).toBe(0);
  const { client, socket } = await dialWire(server.url);
  socket.send(JSON.stringify({ id: 1, method: 'initialize', params: HELLO }));
  socket.send('{"method":"initialized","params":{}}');
  await client.call('process/start', startParams('p', sh(`echo ran >> ${folder.file('whole')}`)));
  await client.closedEvents('p');
  expect(readFileSync(folder.file('whole'), 'utf8')).toBe('ran\n');
  client.close();
});

test('nothing runs behind a handshake that is refused, whatever comes in between', async () => {
  using folder = new TestFolder();
  await using server = await serve({ sessionTtlMs: 1 });
  // Somebody's session, attached: it can be neither taken nor ended by others.
  const { client: owner } = await dialWire(server.url);
  const resumeSessionId = await owner.handshake();
  await owner.call('process/start', startParams('mine', sh('exec sleep 600')));
  const end = frame({ method: 'session/end' });
  const refused = [
    { ...HELLO, resumeSessionId: 'gone' },
    { ...HELLO, resumeSessionId },
    { ...HELLO, clientName: 7 },
    { capabilities: { ahead: true } },
  ].map(hello);
  const random = seededRandom(1);
  const count = tries(60);
  for (let index = 0; index < count; index += 1) {
    const file = folder.file(`run-${index}`);
    const extra = [ready, end, start(file), start(file), ...refused];
    const parts = [...refused, ready, start(file), ...extra.filter(() => random() < 0.5)];
    const shuffled = parts.map((part) => ({ part, at: random() })).toSorted((a, b) => a.at - b.at);
    await throwAt(server.port, Buffer.concat(shuffled.map(({ part }) => part)));
  }
  const successes = readdirSync(folder.path).length;
  tally('programs behind refused handshakes', { tries: count, successes });
  expect(successes).toBe(0);
  expect(await owner.call('process/list')).toMatchObject({
    processes: [{ processId: 'mine', exited: false }],
  });
  owner.close();
});

test('what is said about the input before changes nothing but the fate of who says it', async () => {
  await using server = await serve();
  const { client } = await dialWire(server.url);
  await client.handshake({ capabilities: { flowControl: true } });
  await client.call('process/start', startParams('cat', ['cat'], { pipeStdin: true }));
  const write = async (writeId: string, after: unknown): Promise<string> => {
    const params = { processId: 'cat', writeId, after, chunk: Buffer.from(`${writeId};`).toString('base64') };
    const { result, error } = await client.ask('process/write', params);
    return JSON.stringify(result?.['status'] ?? error?.data?.code ?? error?.code).replaceAll('"', '');
  };
  expect(await write('a', null)).toBe('accepted');
  // Its own id, one that comes later, one of nobody, one without end, things that are no ids.
  expect(await write('b', 'b')).toBe('stdinFull');
  expect(await write('c', 'd')).toBe('stdinFull');
  expect(await write('d', 'c')).toBe('stdinFull');
  expect(await write('e', 'x'.repeat(1_000_000))).toMatch(/stdinFull|-32602|invalidParams/);
  expect(await write('f', 7)).toMatch(/-32602|invalidParams/);
  expect(await write('g', 'a')).toBe('accepted');
  expect(await write('g', 'nobody')).toBe('accepted');
  expect((await client.ask('process/closeStdin', { processId: 'cat', after: 'b' })).error?.data?.code).toBe(
    'stdinFull',
  );
  await client.call('process/closeStdin', { processId: 'cat', after: 'g' });
  await client.closedEvents('cat');
  expect(client.output('cat').toString()).toBe('a;g;');
  client.close();
});
