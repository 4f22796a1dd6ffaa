import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { serve } from '../harness/serve.js';

const MIB = 1024 * 1024;
const MAX_CUTS = 15;

async function open(proxy: FaultProxy, binaryFrames = true): Promise<RemoteEnvironment> {
  const dial = () => dialWebSocket(proxy.url);
  return await RemoteEnvironment.connect({ id: 'cut', dial, resume: true, binaryFrames });
}

/** A server of the test's own, and the port it listens on. */
async function listen(serveOne: (socket: Socket) => void): Promise<{ port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => undefined));
    serveOne(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Reads everything and hashes it. */
async function digestOf(stream: Duplex): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of stream) hash.update(part as Buffer);
  return hash.digest('hex');
}

describe.each([
  ['binary frames', true],
  ['text frames', false],
] as const)('a stream survives a lost connection: %s', (_name, binary) => {
  test('every byte arrives once, in both directions, through many cuts', { timeout: 60_000 }, async () => {
    await using server = await serve();
    await using proxy = await FaultProxy.to(server.url);
    await using environment = await open(proxy, binary);
    await using echo = await listen((socket) => socket.pipe(socket));
    const stream = await environment.connect(echo.port);
    const sent = randomBytes(8 * MIB);
    stream.end(sent);
    let done = false;
    const digest = digestOf(stream).finally(() => {
      done = true;
    });
    const cut = (async () => {
      for (let cuts = 0; cuts < MAX_CUTS; cuts += 1) {
        await Promise.race([proxy.afterBytes(300_000), digest]);
        if (done) return cuts;
        proxy.cut();
      }
      return MAX_CUTS;
    })();
    expect(await digest).toBe(createHash('sha256').update(sent).digest('hex'));
    expect(await cut).toBeGreaterThan(5);
  });

  test('many at once: each has its own bytes, all of them', { timeout: 60_000 }, async () => {
    await using server = await serve();
    await using proxy = await FaultProxy.to(server.url);
    await using environment = await open(proxy, binary);
    const contents = Array.from({ length: 8 }, () => randomBytes(3 * MIB));
    await using source = await listen((socket) =>
      socket.once('data', (index) => socket.end(contents[Number(index)] ?? Buffer.alloc(0))),
    );
    const digests = contents.map(async (_, index) => {
      const stream = await environment.connect(source.port);
      stream.end(String(index));
      return await digestOf(stream);
    });
    const all = Promise.all(digests);
    for (let cuts = 0; cuts < 5; cuts += 1) {
      await Promise.race([proxy.afterBytes(2 * MIB), all]);
      proxy.cut();
    }
    expect(await all).toEqual(contents.map((bytes) => createHash('sha256').update(bytes).digest('hex')));
  });

  test('a request in flight during a cut is made once', async () => {
    await using server = await serve();
    await using proxy = await FaultProxy.to(server.url);
    await using environment = await open(proxy, binary);
    let connections = 0;
    await using target = await listen((socket) => {
      connections += 1;
      socket.pipe(socket);
    });
    const connecting = Array.from({ length: 20 }, async (_, index) => {
      const stream = await environment.connect(target.port, { early: true });
      stream.end(`stream ${index}`);
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part as Buffer);
      return Buffer.concat(parts).toString();
    });
    proxy.cut();
    expect(await Promise.all(connecting)).toEqual(connecting.map((_, index) => `stream ${index}`));
    expect(connections).toBe(20);
  });
});

test('when the server was restarted, streams fail, and new ones can be opened', {
  timeout: 30_000,
}, async () => {
  const first = await ServerProcess.start();
  await using proxy = await FaultProxy.to(first.url);
  await using environment = await open(proxy);
  await using echo = await listen((socket) => socket.pipe(socket));
  const stream = await environment.connect(echo.port);
  stream.write('x');
  await once(stream, 'data');
  const second = await ServerProcess.start();
  try {
    proxy.leadTo(second.url);
    const failed = once(stream, 'error');
    await first.stop();
    expect((await failed)[0]).toMatchObject({ code: 'streamReset' });
    const again = await environment.connect(echo.port);
    again.end('again');
    expect(await digestOf(again)).toBe(createHash('sha256').update('again').digest('hex'));
  } finally {
    await second.stop();
  }
});

test('when a session expires, the program sees its connections break', { timeout: 30_000 }, async () => {
  await using server = await serve({ sessionTtlMs: 500 });
  await using proxy = await FaultProxy.to(server.url);
  const environment = await open(proxy);
  let broken: (code: unknown) => void = () => undefined;
  const broke = new Promise((resolve) => {
    broken = resolve;
  });
  await using target = await listen((socket) =>
    socket.resume().on('error', ({ code }: NodeJS.ErrnoException) => broken(code)),
  );
  const stream = await environment.connect(target.port);
  stream.on('error', () => undefined);
  proxy.interrupt();
  expect(await broke).toBe('ECONNRESET');
  await environment.leave();
});
