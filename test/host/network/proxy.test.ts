// Needs: curl
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type Decided, Gate, type GateOptions } from '../../../src/host/network/gate.js';
import { Proxy } from '../../../src/host/network/proxy.js';
import type { NetworkRules } from '../../../src/host/network/rules.js';

const run = promisify(execFile);
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** Every name leads to this machine. */
const here = async () => [{ address: '127.0.0.1', family: 4 }];

async function startProxy(rules: NetworkRules, options: GateOptions = {}) {
  const decided: Decided[] = [];
  const gate = new Gate(rules, { resolve: here, onDecided: (each) => decided.push(each), ...options });
  const proxy = new Proxy(gate);
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => proxy.serve(socket));
  const port = await listen(server);
  opened.push(() => proxy.close());
  return { port, proxy, decided };
}

async function listen(server: TcpServer | Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  opened.push(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function startSite(): Promise<{ port: number; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    response.setHeader('x-site', 'yes');
    if (request.method === 'POST') request.pipe(response);
    else request.resume().on('end', () => response.end('hello'));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  return { port: await listen(server), seen };
}

const open = (port: number): NetworkRules => ({ allow: [`site.example:${port}`, '127.0.0.1'], deny: [] });

async function curl(...args: string[]): Promise<{ stdout: string; stderr: string; code: number }> {
  return await run('curl', ['-sS', '--max-time', '20', ...args]).then(
    (done) => ({ ...done, code: 0 }),
    (error: { stdout: string; stderr: string; code: number }) => error,
  );
}

async function say(port: number, text: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.end(text);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

describe.each(['http', 'socks5h'])('curl over %s', (scheme) => {
  test('reaches an allowed host, with a body both ways', async () => {
    const site = await startSite();
    const { port, decided } = await startProxy(open(site.port));
    const proxy = ['-x', `${scheme}://127.0.0.1:${port}`];
    expect((await curl(...proxy, `http://site.example:${site.port}/a?b`)).stdout).toBe('hello');
    const body = 'x'.repeat(100_000);
    expect((await curl(...proxy, '-d', body, `http://site.example:${site.port}/`)).stdout).toBe(body);
    expect(site.seen.map(({ url, headers }) => [url, headers.host])).toEqual([
      ['/a?b', `site.example:${site.port}`],
      ['/', `site.example:${site.port}`],
    ]);
    expect(decided.map(({ decision }) => decision)).toEqual(['allow', 'allow']);
  });

  test('is told that a host is not allowed', async () => {
    const { port, decided } = await startProxy({ allow: ['site.example'], deny: [] });
    const { code, stdout } = await curl('-x', `${scheme}://127.0.0.1:${port}`, 'http://other.example/');
    if (scheme === 'http')
      expect(JSON.parse(stdout)).toMatchObject({
        host: 'other.example',
        reason: 'not_allowed',
        message: 'The network policy does not allow other.example:80.',
      });
    else expect(code).toBe(97);
    expect(decided).toMatchObject([{ decision: 'deny', reason: 'not_allowed' }]);
  });

  test('hears which kind of failure it was', async () => {
    const { port } = await startProxy({ allow: ['site.example', '127.0.0.1'], deny: [] });
    const { code, stdout } = await curl('-x', `${scheme}://127.0.0.1:${port}`, 'http://site.example:1/');
    if (scheme === 'http') expect(stdout).toContain('ECONNREFUSED');
    else expect(code).toBe(97);
  });
});

test('CONNECT is answered once there is a connection, and carries anything', async () => {
  const site = await startSite();
  const { port } = await startProxy(open(site.port));
  const proxy = ['-p', '-x', `http://127.0.0.1:${port}`];
  expect((await curl(...proxy, `http://site.example:${site.port}/`)).stdout).toBe('hello');
  const refused = await curl(...proxy, 'http://site.example:1/');
  expect(refused.stderr).toContain('403');
  expect(await say(port, 'CONNECT 127.0.0.1:1 HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1.1 502 .*ECONNREFUSED/s);
});

test('a WebSocket goes through a plain proxy request and through a tunnel', async () => {
  const site = await startSite();
  const { port } = await startProxy(open(site.port));
  const plain = new WebSocket(`ws://127.0.0.1:${port}/`, {
    headers: { host: `site.example:${site.port}` },
  });
  await once(plain, 'open');
  plain.send('over and out');
  const [data] = (await once(plain, 'message')) as [Buffer];
  expect(data.toString()).toBe('over and out');
  plain.close();
});

test('a name is asked for once: a second answer leads nowhere', async () => {
  const site = await startSite();
  let asked = 0;
  const { port, decided } = await startProxy(
    { allow: ['rebound.example', '127.0.0.2'], deny: [] },
    {
      // The first answer is allowed, the second is not.
      resolve: async () => [{ address: ++asked === 1 ? '127.0.0.2' : '127.0.0.1', family: 4 }],
    },
  );
  const visit = ['-x', `http://127.0.0.1:${port}`, `http://rebound.example:${site.port}/`];
  expect((await curl(...visit)).stdout).toContain('ECONNREFUSED');
  expect(asked).toBe(1);
  expect(JSON.parse((await curl(...visit)).stdout)).toMatchObject({ reason: 'not_allowed_local' });
  expect(decided).toMatchObject([{ decision: 'allow' }, { reason: 'not_allowed_local' }]);
  expect(site.seen).toEqual([]);
});

test.each([
  [
    'a Host that differs from the target',
    'GET http://site.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n',
    400,
  ],
  ['another scheme', 'GET ftp://site.example/ HTTP/1.1\r\nHost: site.example\r\n\r\n', 400],
  ['user information', 'GET http://site.example@other.example/ HTTP/1.1\r\n\r\n', 400],
  [
    'two lengths',
    'POST http://site.example/ HTTP/1.1\r\nHost: site.example\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['CONNECT without a port', 'CONNECT site.example HTTP/1.1\r\n\r\n', 400],
  ['CONNECT to the metadata service', 'CONNECT 169.254.169.254:80 HTTP/1.1\r\n\r\n', 403],
  ['CONNECT to an odd spelling of loopback', 'CONNECT 0x7f.1:22 HTTP/1.1\r\n\r\n', 403],
  ['CONNECT to loopback in IPv6', 'CONNECT [::ffff:127.0.0.1]:22 HTTP/1.1\r\n\r\n', 403],
  ['no HTTP at all', 'hello\r\n\r\n', 400],
])('%s is refused', async (_what, text, status) => {
  const { port } = await startProxy({ allow: ['*'], deny: [] });
  expect(await say(port, text)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

test.each([
  ['a password', Buffer.of(5, 1, 2), /^05ff$/],
  ['BIND', Buffer.of(5, 1, 0, 5, 2, 0, 1, 8, 8, 8, 8, 0, 80), /^05000507/],
  ['UDP', Buffer.of(5, 1, 0, 5, 3, 0, 1, 8, 8, 8, 8, 0, 80), /^05000507/],
  ['a private address', Buffer.of(5, 1, 0, 5, 1, 0, 1, 10, 0, 0, 1, 0, 80), /^05000502/],
  ['an unknown kind of address', Buffer.of(5, 1, 0, 5, 1, 0, 9, 1, 1), /^05000508/],
  ['a name with a NUL', Buffer.of(5, 1, 0, 5, 1, 0, 3, 3, 97, 0, 98, 0, 80), /^05000508/],
  ['a message that is cut off', Buffer.of(5, 1, 0, 5, 1, 0, 3), /^0500$/],
])('SOCKS: %s gets its answer', async (_what, bytes, answer) => {
  const { port } = await startProxy({ allow: ['*'], deny: [] });
  expect(Buffer.from(await say(port, bytes), 'latin1').toString('hex')).toMatch(answer);
});

test('our own doors are closed to it, also where their address is allowed', async () => {
  const site = await startSite();
  const { port } = await startProxy(open(site.port), { isOwnDoor: (_address, door) => door === site.port });
  const { stdout } = await curl('-x', `http://127.0.0.1:${port}`, `http://site.example:${site.port}/`);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'blocked' });
  expect(site.seen).toEqual([]);
});

test('an unknown host waits for whoever decides', async () => {
  const site = await startSite();
  const asked: string[] = [];
  const { port, decided } = await startProxy(
    { allow: ['127.0.0.1'], deny: [] },
    {
      decide: async ({ host }) => {
        asked.push(host);
        return host === 'yes.example' ? { type: 'allow' } : { type: 'deny', reason: 'not today' };
      },
    },
  );
  const proxy = ['-x', `http://127.0.0.1:${port}`];
  expect((await curl(...proxy, `http://yes.example:${site.port}/`)).stdout).toBe('hello');
  expect((await curl(...proxy, `http://no.example:${site.port}/`)).stdout).toContain('not today');
  expect(asked).toEqual(['yes.example', 'no.example']);
  expect(decided.map(({ source }) => source)).toEqual(['decider', 'decider']);
});

describe.each(['open', 'half closed'])('a connection that is %s', (state) => {
  test.each([
    ['a tunnel', (port: number) => `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`, ''],
    [
      'a WebSocket',
      (port: number) =>
        `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n`,
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    ['SOCKS', (port: number) => Buffer.of(5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255), ''],
  ])('does not outlive the proxy: %s', async (_how, opening, reply) => {
    const silent = createTcpServer({ allowHalfOpen: true }, (socket) => socket.write(reply));
    const there = await listen(silent);
    const { port, proxy } = await startProxy({ allow: ['127.0.0.1'], deny: [] });
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    const arrived = once(silent, 'connection') as Promise<[Socket]>;
    socket.write(opening(there));
    const [other] = await arrived;
    other.on('error', () => undefined).resume();
    await once(socket.resume(), 'data');
    socket.write('sent');
    if (state === 'half closed') {
      socket.end();
      await once(other, 'end');
    }
    const gone = new Promise((resolve) => void socket.once('close', resolve));
    proxy.close();
    await gone;
    // Nobody tells it that a half closed connection is gone before it sends something.
    await expect.poll(() => (other.write('x'), other.destroyed)).toBe(true);
  });
});

/** The same by a client that waits for the answer before it goes. */
async function ask(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk: Buffer) => void (said += chunk.toString('latin1')));
  socket.write(text);
  await once(socket, 'close');
  return said;
}

/** A host that keeps the first bytes of every connection, and answers with these. */
async function startRawSite(reply: string): Promise<{ port: number; heard: () => string }> {
  let heard = '';
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(Buffer.from(reply, 'latin1')));
    socket.on('data', (bytes: Buffer) => void (heard += bytes.toString('latin1')));
  });
  return { port: await listen(server), heard: () => heard };
}

describe('an allowed host that answers with', () => {
  test.each([
    ['a status below all', 'HTTP/1.1 042 x\r\ncontent-length: 0\r\n\r\n', /^HTTP\/1.1 502 /],
    ['status 0', 'HTTP/1.1 000 x\r\ncontent-length: 0\r\n\r\n', /^HTTP\/1.1 502 /],
    ['a bell', 'HTTP/1.1 200 O\x07K\r\ncontent-length: 2\r\n\r\nhi', /^HTTP\/1.1 200 OK\r\n.*hi$/s],
    [
      'a reason of its own',
      'HTTP/1.1 200 Fine\r\ncontent-length: 2\r\n\r\nhi',
      /^HTTP\/1.1 200 Fine\r\n.*hi$/s,
    ],
    [
      'a protocol nobody asked for',
      'HTTP/1.1 101 x\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhello',
      /^HTTP\/1.1 502 /,
    ],
  ])('%s harms nobody', async (_what, reply, expected) => {
    const site = await startRawSite(reply);
    const { port } = await startProxy(open(site.port));
    const at = `site.example:${site.port}`;
    const said = await ask(port, `GET http://${at}/ HTTP/1.1\r\nHost: ${at}\r\nConnection: close\r\n\r\n`);
    expect(said).toMatch(expected);
  });
});

describe('a request is the same for the host as for us', () => {
  const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: other.example\r\n\r\n';
  const chunked = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;

  test.each([
    ['a body in chunks', 'GET', 'Transfer-Encoding: chunked', chunked],
    ['a body in chunks, to be deleted', 'DELETE', 'Transfer-Encoding: chunked', chunked],
    [
      'a length that is meant for us alone',
      'GET',
      `Connection: content-length\r\nContent-Length: ${HIDDEN.length}`,
      HIDDEN,
    ],
    [
      'a length behind a thousand other headers',
      'GET',
      `${'a:\r\n'.repeat(2_000)}Content-Length: ${HIDDEN.length}`,
      HIDDEN,
    ],
  ])('%s', async (_what, method, header, body) => {
    const site = await startSite();
    const { port } = await startProxy(open(site.port));
    const at = `site.example:${site.port}`;
    await ask(
      port,
      `${method} http://${at}/seen HTTP/1.1\r\nHost: ${at}\r\n${header}\r\nConnection: close\r\n\r\n${body}`,
    );
    expect(site.seen.map(({ url }) => url)).toEqual(['/seen']);
  });

  test.each([
    ['a second host', 'Host: other.example'],
    ['a host that is meant for us alone', 'Connection: host'],
    ['a second host of an upgrade', 'Host: other.example\r\nConnection: upgrade\r\nUpgrade: x'],
  ])('%s', async (_what, header) => {
    const site = await startRawSite('HTTP/1.1 204 No Content\r\n\r\n');
    const { port } = await startProxy(open(site.port));
    const at = `site.example:${site.port}`;
    await ask(port, `GET http://${at}/ HTTP/1.1\r\nHost: ${at}\r\n${header}\r\nConnection: close\r\n\r\n`);
    expect(site.heard().match(/^host: .*$/gim)).toEqual([`Host: ${at}`]);
  });

  test('what follows an upgrade waits until the host has agreed', async () => {
    const site = await startRawSite('HTTP/1.1 204 No Content\r\nx-site: yes\r\n\r\n');
    const { port } = await startProxy(open(site.port));
    const at = `site.example:${site.port}`;
    const said = await ask(
      port,
      `GET http://${at}/ HTTP/1.1\r\nHost: ${at}\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n${HIDDEN}`,
    );
    expect(said).toMatch(/^HTTP\/1.1 204 .*x-site: yes/s);
    expect(site.heard()).not.toContain('hidden');
  });
});

test('hop-by-hop headers stay on their hop', async () => {
  const site = await startSite();
  const { port } = await startProxy(open(site.port));
  const extra = ['Proxy-Authorization: Basic c2VjcmV0', 'Connection: X-Hop', 'X-Hop: 1', 'X-End: 2'];
  const headers = extra.flatMap((each) => ['-H', each]);
  await curl('-x', `http://127.0.0.1:${port}`, ...headers, `http://site.example:${site.port}/`);
  expect(site.seen[0]?.headers).toMatchObject({ 'x-end': '2' });
  expect(site.seen[0]?.headers).not.toHaveProperty('x-hop');
  expect(site.seen[0]?.headers).not.toHaveProperty('proxy-authorization');
});

test('1,000 first requests on new connections are all answered', async () => {
  const { port } = await startProxy({ allow: ['site.example'], deny: [] });
  let wrong = 0;
  const lane = async (): Promise<void> => {
    for (let round = 0; round < 100; round += 1) {
      const said = await say(
        port,
        'GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n',
      );
      if (!said.startsWith('HTTP/1.1 403 ')) wrong += 1;
    }
  };
  await Promise.all(Array.from({ length: 10 }, lane));
  expect(wrong).toBe(0);
});
