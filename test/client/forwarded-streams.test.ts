import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { serve } from '../harness/serve.js';

const MIB = 1024 * 1024;

interface Scene {
  readonly proxy: FaultProxy;
  /** Where the forward listens. */
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** A program behind a server, a proxy that can break the connection, and a forward. */
async function forwarded(serveOne: (socket: Socket) => void): Promise<Scene> {
  const program = createServer({ allowHalfOpen: true }, (socket) => {
    onTestFinished(() => void socket.destroy());
    serveOne(socket.on('error', () => undefined));
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  const server = await serve();
  const proxy = await FaultProxy.to(server.url);
  const dial = () => dialWebSocket(proxy.url);
  const environment = await RemoteEnvironment.connect({ id: 'far', dial, resume: true });
  const address = program.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const forward = await environment.forward(port, { localPort: 0 });
  onTestFinished(async () => {
    await forward.close();
    await environment.close();
    await proxy[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    program.close();
  });
  return { proxy, port: forward.localPort, close: () => forward.close() };
}

/** What breaks it is of interest to those who read it. */
const open = (port: number): Socket =>
  createConnection({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);

async function digestOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of stream) hash.update(part);
  return hash.digest('hex');
}

test('every byte arrives once, in both directions, through cuts', { timeout: 60_000 }, async () => {
  const { proxy, port } = await forwarded((socket) => socket.pipe(socket));
  const contents = Array.from({ length: 3 }, () => randomBytes(4 * MIB));
  const digests = Promise.all(
    contents.map((content) => {
      const client = open(port);
      client.end(content);
      return digestOf(client);
    }),
  );
  for (let cuts = 0; cuts < 5; cuts += 1) {
    await Promise.race([proxy.afterBytes(2 * MIB), digests]);
    proxy.cut();
  }
  expect(await digests).toEqual(contents.map((bytes) => createHash('sha256').update(bytes).digest('hex')));
});

test('a program that reads later gets everything, and holds up its client until then', async () => {
  const paused: Socket[] = [];
  const { port } = await forwarded((socket) => paused.push(socket.pause()));
  const content = randomBytes(32 * MIB);
  const client = open(port);
  let isFlushed = false;
  client.end(content, () => {
    isFlushed = true;
  });
  // Others go on meanwhile, and not all of it fits into what may be in flight.
  while (paused.length === 0) await new Promise(setImmediate);
  const other = open(port);
  other.write('x');
  while (paused.length < 2) await new Promise(setImmediate);
  const [late, quick] = paused as [Socket, Socket];
  expect((await once(quick.resume(), 'data')).toString()).toBe('x');
  expect(isFlushed).toBe(false);
  const hash = createHash('sha256');
  await once(late.on('data', (part: Buffer) => hash.update(part)).resume(), 'end');
  expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
  late.end('thanks');
  expect((await client.toArray()).join('')).toBe('thanks');
});

test('a client that breaks its connection breaks that of the program', async () => {
  let begin: (client: Socket) => void = () => undefined;
  let failed: (code: unknown) => void = () => undefined;
  const client = new Promise<Socket>((resolve) => {
    begin = resolve;
  });
  const failure = new Promise((resolve) => {
    failed = resolve;
  });
  const { port } = await forwarded((socket) => {
    socket.on('error', ({ code }: NodeJS.ErrnoException) => failed(code)).resume();
    void client.then((each) => each.resetAndDestroy());
  });
  const opened = open(port);
  opened.write('x');
  begin(opened);
  expect(await failure).toBe('ECONNRESET');
});

test('a program that breaks its connection breaks that of the client', async () => {
  const { port } = await forwarded((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const client = open(port);
  client.write('x');
  await expect(client.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' });
});

test('a hundred at once beside one that nobody reads', { timeout: 60_000 }, async () => {
  const { port } = await forwarded((socket) => socket.pipe(socket));
  const stalled = open(port);
  stalled.write(Buffer.alloc(16 * MIB));
  const replies = await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const client = open(port);
      client.end(`client ${index}`);
      return (await client.toArray()).join('');
    }),
  );
  expect(replies).toEqual(replies.map((_, index) => `client ${index}`));
  stalled.destroy();
});

test('when it stops, nothing stays open here', async () => {
  const { port, close } = await forwarded((socket) => socket.pipe(socket));
  const client = open(port);
  client.write('x');
  await once(client, 'data');
  // It is told that this was not the end of the answer.
  const broken = once(client, 'end').catch(({ code }: NodeJS.ErrnoException) => code);
  await close();
  expect(await broken).toBe('ECONNRESET');
  const refused = open(port);
  await expect(once(refused, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
