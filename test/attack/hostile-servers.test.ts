import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { ExecClient, startProcess } from '../../src/client/index.js';
import { isExecError } from '../../src/protocol/index.js';
import { dialWebSocket } from '../../src/transport/index.js';

/** Whatever a server does, its client comes to an end within this. */
const PATIENCE_MS = 12_000;
/** What one hostile server may cost, everything included. */
const MAX_GROWTH_MB = 400;

interface Request {
  readonly id?: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

type Script = (socket: WebSocket, request: Request) => unknown;

const info = { shell: { name: 'sh', path: '/bin/sh' }, cwd: 'file:///' };

/** Answers as a good server would. */
function behave(socket: WebSocket, { id, method, params }: Request): void {
  const answers: Record<string, unknown> = {
    initialize: { sessionId: 's', environmentInfo: info, capabilities: {} },
    'environment/status': { status: 'ready' },
    'process/start': { processId: params?.processId, sandboxType: 'none' },
    'process/terminate': { running: true },
    'process/read': {
      chunks: [],
      nextSeq: 1,
      exited: false,
      exitCode: null,
      closed: false,
      failure: null,
      sandboxDenied: false,
    },
  };
  if (id !== undefined) socket.send(JSON.stringify({ id, result: answers[method] ?? {} }));
}

/** A WebSocket server that does what a script says: it gets every message, and answers or does worse. */
async function hostile(script: Script, finished = onTestFinished): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      // What a client says in its distress need not be JSON for us.
      const message = JSON.parse(data.toString()) as Request;
      if (message.method !== undefined) script(socket, message);
    });
  });
  await once(server, 'listening');
  finished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function connectTo(url: string, options: { resume?: boolean } = {}): Promise<ExecClient> {
  const client = await ExecClient.connect({
    dial: () => dialWebSocket(url, { connectTimeoutMs: 1_000 }),
    requestTimeoutMs: 2_000,
    resume: options.resume ?? false,
    giveUpAfterMs: 500,
  });
  onTestFinished(() => client.close());
  return client;
}

/** How something ended: with a value, or with the code of an error of ours. Anything else fails the test. */
async function outcome(promise: Promise<unknown>): Promise<string> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('it never came to an end')), PATIENCE_MS).unref();
  });
  try {
    await Promise.race([promise, late]);
    return 'fine';
  } catch (error) {
    if (isExecError(error)) return error.code;
    throw error;
  }
}

// Most of them are waited for in vain: all at the same time.
describe.concurrent('a server that says hello in its own way', () => {
  test.for<[string, Script]>([
    ['never', () => undefined],
    ['with another id', (socket) => socket.send('{"id":999,"result":{}}')],
    ['with null', (socket, { id }) => socket.send(`{"id":${id},"result":null}`)],
    ['with a list', (socket, { id }) => socket.send(`{"id":${id},"result":[]}`)],
    ['with a number for a session', (socket, { id }) => socket.send(`{"id":${id},"result":{"sessionId":7}}`)],
    ['with an error that is none', (socket, { id }) => socket.send(`{"id":${id},"error":"no"}`)],
    ['with neither result nor error', (socket, { id }) => socket.send(`{"id":${id}}`)],
    ['twice as many times as asked', (socket, request) => [behave(socket, request), behave(socket, request)]],
    ['with nonsense', (socket) => socket.send('nonsense')],
    ['in bytes that are no text', (socket) => socket.send(Buffer.from([0xff, 0xfe]), { binary: true })],
    ['with a frame nobody agreed on', (socket) => socket.send(Buffer.from([1, 0, 0, 2, 0x7b, 0x7d]))],
    ['with a close', (socket) => socket.close(1000)],
    ['with a close it may not send', (socket) => socket.close(4999, 'x'.repeat(100))],
    ['with the end of the connection', (socket) => socket.terminate()],
    ['with a call of its own', (socket) => socket.send('{"id":1,"method":"process/start","params":{}}')],
    ['with a method of every client', (socket) => socket.send('{"id":"x","method":"initialize"}')],
    ['deeper than anybody reads', (socket) => socket.send(`{"id":1,"result":${'['.repeat(9_999)}`)],
  ])('%s: connecting ends, one way or the other', async ([, script], { onTestFinished: finished }) => {
    const url = await hostile(script, finished);
    const ended = await outcome(
      ExecClient.connect({
        dial: () => dialWebSocket(url, { connectTimeoutMs: 1_000 }),
        initializeTimeoutMs: 1_000,
        requestTimeoutMs: 1_000,
        resume: false,
      }).then((client) => client.close()),
    );
    expect([
      'fine',
      'requestTimeout',
      'connectionClosed',
      'protocolViolation',
      'notConnected',
      'remoteError',
    ]).toContain(ended);
  });
});

describe('a server below WebSocket', () => {
  async function raw(serve: (socket: Socket) => void): Promise<string> {
    const server: Server = createServer((socket) => {
      socket.on('error', () => undefined);
      serve(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => sockets.add(socket));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => undefined],
    ['says one letter at a time', (socket) => drip(socket, 'H')],
    ['has headers without end', (socket) => drip(socket, 'x: y\r\n', 'HTTP/1.1 101 Switching Protocols\r\n')],
    ['has one header without end', (socket) => drip(socket, 'x'.repeat(50_000), 'HTTP/1.1 101 OK\r\nx: ')],
    [
      'answers with a page without end',
      (socket) => drip(socket, 'x'.repeat(50_000), 'HTTP/1.1 200 OK\r\n\r\n'),
    ],
    ['speaks another protocol', (socket) => socket.end('SSH-2.0-x\r\n')],
    [
      'accepts with a wrong key',
      (socket) =>
        socket.write(
          'HTTP/1.1 101 OK\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: x\r\n\r\n',
        ),
    ],
    [
      'sends elsewhere',
      (socket) =>
        socket.end('HTTP/1.1 302 Found\r\nlocation: ws://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n'),
    ],
    ['hangs up', (socket) => socket.destroy()],
  ])('that %s is not connected to', async (_what, serve) => {
    const url = await raw(serve);
    expect(await outcome(dialWebSocket(url, { connectTimeoutMs: 500 }))).toBe('notConnected');
  });

  function drip(socket: Socket, text: string, first = ''): void {
    socket.write(first);
    const timer = setInterval(() => socket.write(text), 1);
    socket.once('close', () => clearInterval(timer));
  }
});

describe('a server that lies about a process', () => {
  const chunk = Buffer.alloc(60_000, 'x').toString('base64');
  const output = (seq: unknown, more: object = {}): string =>
    JSON.stringify({
      method: 'process/output',
      params: { processId: 'p', seq, stream: 'stdout', chunk: 'eA==', ...more },
    });
  const event = (method: string, params: object): string =>
    JSON.stringify({ method, params: { processId: 'p', ...params } });

  /** What it says once the process has been started. */
  const LIES: [string, readonly string[]][] = [
    ['output that is no base64', [output(1, { chunk: '***' })]],
    ['output of half a character', [output(1, { chunk: 'A' })]],
    ['output that is a number', [output(1, { chunk: 7 })]],
    ['output without a number', [output(undefined)]],
    ['a negative number', [output(-1)]],
    ['half a number', [output(1.5)]],
    ['a number that is no number', [output('1')]],
    ['a number beyond all others', [output(2 ** 53)]],
    ['a number without end', [output(1).replace('"seq":1', '"seq":1e999')]],
    ['another stream', [output(1, { stream: 'stdmad' })]],
    ['an exit without a code', [event('process/exited', { seq: 1 })]],
    ['an exit with a code that is none', [event('process/exited', { seq: 1, exitCode: 'zero' })]],
    ['gaps', Array.from({ length: 400 }, (_, index) => output(2 * index + 2))],
    ['the last first', Array.from({ length: 400 }, (_, index) => output(401 - index + 1))],
    ['the same again and again', Array.from({ length: 1_000 }, () => output(1))],
    ['two exits', [1, 2].map((seq) => event('process/exited', { seq, exitCode: seq }))],
    ['output behind the end', [event('process/closed', { seq: 1 }), output(2)]],
    ['two ends', [event('process/closed', { seq: 1 }), event('process/closed', { seq: 2 })]],
    [
      'things about other processes',
      Array.from({ length: 5_000 }, (_, index) => output(index, { processId: 'q' })),
    ],
    ['things nobody knows', Array.from({ length: 5_000 }, (_, index) => event(`no/such${index}`, {}))],
    ['nothing with nothing', ['{"method":"process/output"}', '{"method":"process/exited","params":null}']],
    ['answers nobody asked for', ['{"id":12345,"result":{}}']],
  ];

  test.each(LIES)('%s: one clear end, or none of it matters', async (_what, lies) => {
    const url = await hostile((socket, request) => {
      behave(socket, request);
      if (request.method !== 'process/start') return;
      for (const lie of lies) socket.send(lie);
      // What is told behind all of it shows whether the client still listens.
      socket.send(event('process/closed', { seq: 10_000 }));
    });
    const client = await connectTo(url);
    const process = await startProcess(client, { argv: ['x'], processId: 'p' });
    const ended = process.wait().then((end) => end.kind);
    const alive = outcome(client.call('environment/status', null));
    expect(['fine', 'connectionClosed', 'requestTimeout']).toContain(await alive);
    await client.close();
    // Never an exit that was not told.
    expect(['contactLost', 'exited']).toContain(await ended);
    if (lies.some((lie) => lie.includes('"exitCode":1'))) expect(await ended).toBe('exited');
    else expect(await ended).toBe('contactLost');
  });

  test('output without end that nobody reads is not kept', async () => {
    let over = false;
    onTestFinished(() => {
      over = true;
    });
    const url = await hostile((socket, request) => {
      behave(socket, request);
      if (request.method !== 'process/start') return;
      let seq = 0;
      const more = (): void => {
        if (over || socket.readyState !== socket.OPEN || seq > 20_000) return;
        for (let count = 0; count < 20; count += 1) {
          seq += 1;
          socket.send(output(seq, { chunk }), { binary: false });
        }
        // As fast as the client takes it.
        if (socket.bufferedAmount < 8_000_000) setImmediate(more);
        else setTimeout(more, 20);
      };
      more();
    });
    const client = await connectTo(url);
    const before = process.memoryUsage().rss;
    const started = await startProcess(client, { argv: ['x'], processId: 'p' });
    const reader = started.events()[Symbol.asyncIterator]();
    await reader.next();
    await expect.poll(() => client.unreadBudget.paused).toBe(true);
    expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(MAX_GROWTH_MB);
    await client.close();
    await started.wait();
  });
});

describe('a server that floods', () => {
  test.each<[string, (socket: WebSocket) => void]>([
    ['requests nobody answers', (socket) => flood(socket, (count) => `{"id":${count},"method":"x/y"}`)],
    ['nonsense', (socket) => flood(socket, () => 'nonsense')],
    ['pings', (socket) => flood(socket, null)],
    ['notifications', (socket) => flood(socket, () => '{"method":"fs/changed","params":{"watchId":"w"}}')],
  ])('with %s leaves its client able to end', async (_what, attack) => {
    const url = await hostile((socket, request) => {
      behave(socket, request);
      if (request.method === 'initialized') attack(socket);
    });
    const before = process.memoryUsage().rss;
    const client = await connectTo(url);
    for (let count = 0; count < 20; count += 1)
      expect(['fine', 'connectionClosed', 'requestTimeout']).toContain(
        await outcome(client.call('environment/status', null)),
      );
    expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(MAX_GROWTH_MB);
    expect(await outcome(client.close())).toBe('fine');
  });

  test('with a message larger than any is cut off', async () => {
    const url = await hostile((socket, request) => {
      if (request.method !== 'environment/status') return behave(socket, request);
      for (let count = 0; count < 3; count += 1)
        socket.send(Buffer.alloc(60 * 1024 * 1024, ' '), { binary: false, fin: false });
    });
    const client = await connectTo(url);
    const call = client.call('environment/status', null, { timeoutMs: 2 * PATIENCE_MS });
    expect(await outcome(call)).toBe('connectionClosed');
  });

  test('with hellos and cuts has its client give up in time', async () => {
    let hellos = 0;
    const url = await hostile((socket, request) => {
      behave(socket, request);
      hellos += request.method === 'initialize' ? 1 : 0;
      if (request.method !== 'initialize') socket.terminate();
    });
    const client = await connectTo(url, { resume: true });
    const process = startProcess(client, { argv: ['x'], processId: 'p' });
    expect(['contactLost', 'connectionClosed', 'requestTimeout']).toContain(await outcome(process));
    expect(hellos).toBeLessThan(100);
  });

  function flood(socket: WebSocket, message: ((count: number) => string) | null): void {
    let count = 0;
    const more = (): void => {
      if (socket.readyState !== socket.OPEN || count > 200_000) return;
      for (let index = 0; index < 200; index += 1) {
        count += 1;
        if (message) socket.send(message(count));
        else socket.ping();
      }
      if (socket.bufferedAmount < 4_000_000) setImmediate(more);
      else setTimeout(more, 20);
    };
    more();
  }
});
