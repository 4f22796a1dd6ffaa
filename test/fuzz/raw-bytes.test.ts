import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { frameOf } from '../../testkit/frames.mjs';
import { StdioServer } from '../../testkit/server-process.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';
import { seededRandom } from '../harness/random.js';
import { baseSeed } from './fuzz-run.js';
import { FuzzedServer } from './fuzzed-server.js';

/** None of these names a file or a program, so that no change to them can either. */
const TEMPLATES = [
  '{"id":1,"method":"initialize","params":{"clientName":"test"}}',
  '{"id":2,"method":"environment/status","params":{}}',
  '{"id":3,"method":"process/read","params":{"processId":"p","afterSeq":0}}',
  '{"method":"initialized","params":{}}',
  '{"id":"text","result":{"deep":[[[[1,2.5e10,null]]]]}}',
];
const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  '\r\n',
].join('\r\n');

function randomBytes(random: () => number, size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, () => Math.floor(random() * 256)));
}

/** One of the templates with some of its bytes changed, left out or doubled. */
function damaged(random: () => number): Buffer {
  const bytes = [...Buffer.from(TEMPLATES[Math.floor(random() * TEMPLATES.length)] ?? '')];
  for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes -= 1) {
    const at = Math.floor(random() * bytes.length);
    const kind = random();
    if (kind < 0.4) bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    else if (kind < 0.7) bytes.splice(at, 1 + Math.floor(random() * 5));
    else bytes.splice(at, 0, ...bytes.slice(at, at + Math.floor(random() * 10)));
  }
  return Buffer.from(bytes);
}

describe('bytes made up from nothing', () => {
  const server = new FuzzedServer();
  beforeAll(async () => {
    await server.start();
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    socket.terminate();
    await server.rememberIdle();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Whatever happened, somebody else is served. */
  async function stillServes(): Promise<void> {
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    expect(await client.call('environment/status')).toEqual({ status: 'ready' });
    socket.terminate();
    await server.returnsToIdle();
  }

  function dialPlain(): Socket {
    const { port, hostname } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    return socket;
  }

  for (const transport of ['ws', 'unix'] as const) {
    test(`200 connections of damaged messages over ${transport}`, async () => {
      const random = seededRandom(baseSeed + 700);
      for (let round = 0; round < 200; round += 1) {
        const { client, socket } = await dialWire(transport === 'ws' ? server.url : server.unix);
        for (let left = 20; left > 0; left -= 1) {
          const bytes = random() < 0.2 ? randomBytes(random, 40) : damaged(random);
          socket.send(bytes, { binary: random() < 0.5 });
        }
        // Text that is no UTF-8 ends the connection; everything else is answered and goes on.
        const sentinel = client.ask('initialize', { clientName: 'test' }).catch(() => undefined);
        await Promise.race([sentinel, client.untilClosed()]);
        socket.terminate();
      }
      await stillServes();
    });
  }

  test('300 frames with wrong bytes in them', async () => {
    const random = seededRandom(baseSeed + 750);
    const params = { processId: 'none', writeId: '1' };
    for (let round = 0; round < 300; round += 1) {
      const { client, socket } = await dialWire(server.url);
      await client.handshake({ capabilities: { binaryFrames: true } });
      const frame = frameOf({ id: 'f', method: 'process/write', params, bytes: 'chunk' }, Buffer.from('x'));
      for (let wrong = 1 + random() * 3; wrong > 0; wrong -= 1)
        frame[1 + Math.floor(random() * (frame.length - 1))] = Math.floor(random() * 256);
      const cut = random() < 0.3 ? Math.ceil(random() * frame.length) : frame.length;
      socket.send(frame.subarray(0, cut));
      const answered = client.until(() =>
        client.arrivals.some((each) => 'error' in each || 'result' in each),
      );
      await Promise.race([answered.catch(() => undefined), client.untilClosed()]);
      socket.terminate();
    }
    await stillServes();
  });

  test('100 upgrades followed by broken frames', async () => {
    const random = seededRandom(baseSeed + 800);
    const rounds = Array.from({ length: 100 }, async () => {
      const socket = dialPlain();
      socket.write(UPGRADE);
      await once(socket, 'data');
      socket.resume();
      const closed = once(socket, 'close');
      socket.write(randomBytes(random, 200));
      // A frame may announce more than was sent: then the server waits for it, as it should.
      socket.end();
      await closed;
    });
    await Promise.all(rounds);
    await stillServes();
  });

  test('200 connections without HTTP, some without a word', async () => {
    const random = seededRandom(baseSeed + 900);
    const sockets = Array.from({ length: 200 }, (_, index) => {
      const socket = dialPlain();
      if (index % 4 > 0) socket.write(randomBytes(random, 200));
      return socket;
    });
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    socket.terminate();
    for (const each of sockets) each.destroy();
    await stillServes();
  });

  test('2000 lines of nonsense on stdio are answered one by one', async () => {
    await using stdio = new StdioServer({ cwd: server.folder.path });
    const random = seededRandom(baseSeed + 1000);
    for (let left = 2000; left > 0; left -= 1) {
      stdio.client.send(String.fromCharCode(...randomBytes(random, 30).map((byte) => 33 + (byte % 90))));
    }
    await stdio.client.handshake();
    expect(stdio.client.arrivals.filter((each) => 'id' in each && each.id === -1)).toHaveLength(2000);
  });

  test('damaged lines on stdio are answered, or end the server in good order', async () => {
    const random = seededRandom(baseSeed + 1100);
    for (let round = 0; round < 8; round += 1) {
      await using stdio = new StdioServer({ cwd: server.folder.path });
      for (let left = 50; left > 0; left -= 1) {
        stdio.child.stdin.write(Buffer.concat([damaged(random), Buffer.from('\n')]));
      }
      stdio.child.stdin.end('{"id":"last","method":"environment/status"}\n');
      expect(await stdio.exit).toEqual([0, null]);
    }
  });

  test('bytes that are no text end a stdio server in good order', async () => {
    await using stdio = new StdioServer();
    stdio.child.stdin.write(Buffer.from([0xff, 0xfe, 0x0a, 0x80, 0x0a]));
    expect(await stdio.exit).toEqual([0, null]);
  });
});
