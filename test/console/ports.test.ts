// Needs: openssl
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../harness/certificate.js';
import { TestConsole, type Visitor } from '../harness/console.js';
import { TestFolder } from '../harness/processes.js';

/** A program on the machine that says what it was asked, and tries what it can. */
class Program implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async listen(): Promise<Program> {
    const server = createServer((asked, response) => void answer(asked, response));
    const sockets = new WebSocketServer({ server });
    sockets.on('headers', (headers) => headers.push('set-cookie: execwire-1=stolen', 'set-cookie: own=ws'));
    sockets.on('connection', (socket, asked) => {
      socket.send(JSON.stringify(asked.headers));
      socket.on('message', (data) => socket.send(data));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Program(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

async function answer(asked: IncomingMessage, response: import('node:http').ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of asked as AsyncIterable<Buffer>) parts.push(part);
  const { port } = asked.socket.address() as AddressInfo;
  if (asked.url === '/away') response.setHeader('location', `http://localhost:${port}/there?x`);
  if (asked.url === '/elsewhere') response.setHeader('location', `http://localhost:${port}.evil.example/`);
  response.writeHead(asked.url === '/' ? 200 : 302, {
    'set-cookie': [
      'own=1; Path=/',
      'execwire-4000=stolen; Path=/',
      ' __Host-execwire-4000=x; Path=/; Secure',
      '=execwire-4000=without a name; Path=/',
    ],
    'clear-site-data': '"cookies"',
    'strict-transport-security': 'max-age=0',
    'x-own': 'kept',
  });
  response.end(JSON.stringify({ headers: asked.headers, body: Buffer.concat(parts).toString() }));
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Node’s own client sends any header, also those that belong to browsers. */
async function ask(
  url: string,
  headers: Record<string, string> = {},
  { method = 'GET', body = '' } = {},
): Promise<Answer> {
  const sent = request(url, { method, headers });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(parts).toString(),
  };
}

async function open(opened: TestConsole, who: Visitor, port: number): Promise<string> {
  const response = await opened.call(who, 'POST', '/api/ports/open', { machine: 'local', port });
  const { url } = (await response.json()) as { url: string };
  return url;
}

/** Opens a port as a browser does. */
async function enter(address: string): Promise<{ origin: string; cookie: string }> {
  const { status, headers } = await ask(address);
  expect(status).toBe(200);
  return {
    origin: new URL(address).origin,
    cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '',
  };
}

test('a port is opened under an origin and a host of its own, for one browser', async () => {
  await using program = await Program.listen();
  await using opened = await TestConsole.open();
  const who = await opened.signIn();
  const address = await open(opened, who, program.port);
  const { hostname } = new URL(address);
  expect(hostname).toMatch(/^127\.\d+\.\d+\.\d+$/);
  expect(hostname).not.toBe('127.0.0.1');
  const entered = await ask(address);
  expect(entered.headers['set-cookie']?.[0]).toMatch(
    /^execwire-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=\d+$/,
  );
  expect(entered.headers['content-security-policy']).toContain("default-src 'none'");
  expect(entered.body).toContain('url=/"');
  // Its key works once.
  expect((await ask(address)).status).toBe(403);
  const again = await open(opened, who, program.port);
  expect(new URL(again).origin).toBe(new URL(address).origin);
  const list = await opened.call(who, 'GET', '/api/ports');
  expect(await list.json()).toEqual({ ports: [{ machine: 'local', port: program.port, processId: null }] });
});

test('the program sees its own name and none of our secrets, and reaches no further than its origin', async () => {
  await using program = await Program.listen();
  await using opened = await TestConsole.open();
  const who = await opened.signIn();
  const { origin, cookie } = await enter(await open(opened, who, program.port));
  const headers = {
    cookie: `${who.cookie}; own=1; ${cookie}`,
    origin,
    referer: `${origin}/page`,
    'sec-fetch-site': 'same-origin',
    connection: 'close, x-hop',
    'x-hop': 'dropped',
  };
  const answered = await ask(`${origin}/`, headers, { method: 'POST', body: 'sent' });
  const { headers: seen, body } = JSON.parse(answered.body) as { headers: IncomingHttpHeaders; body: string };
  const inside = `localhost:${program.port}`;
  expect(body).toBe('sent');
  expect(seen).toMatchObject({
    host: inside,
    cookie: 'own=1',
    origin: `http://${inside}`,
    referer: `http://${inside}/page`,
    'x-forwarded-proto': 'http',
  });
  expect(seen).not.toHaveProperty('x-hop');
  expect(answered.headers).toMatchObject({ 'x-own': 'kept', 'set-cookie': ['own=1; Path=/'] });
  expect(answered.headers).not.toHaveProperty('clear-site-data');
  expect(answered.headers).not.toHaveProperty('strict-transport-security');
  const away = await ask(`${origin}/away`, { cookie });
  expect(away.headers.location).toBe(`${origin}/there?x`);
  const elsewhere = await ask(`${origin}/elsewhere`, { cookie });
  expect(elsewhere.headers.location).toBe(`http://${inside}.evil.example/`);
});

test.each([
  ['a status below all', 'HTTP/1.1 042 x\r\ncontent-length: 0\r\n\r\n'],
  ['a protocol nobody asked for', 'HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello'],
])('a program that answers with %s harms nobody', async (_what, reply) => {
  const program = createTcpServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.end(reply));
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  onTestFinished(() => void program.close());
  await using opened = await TestConsole.open();
  const { port } = program.address() as AddressInfo;
  const { origin, cookie } = await enter(await open(opened, await opened.signIn(), port));
  const { status, body } = await ask(`${origin}/`, { cookie });
  expect([status, body]).toEqual([502, expect.stringContaining('Nothing that speaks HTTP')]);
});

test('WebSockets pass, without our cookies in either direction', async () => {
  await using program = await Program.listen();
  await using opened = await TestConsole.open();
  const { origin, cookie } = await enter(await open(opened, await opened.signIn(), program.port));
  const url = origin.replace('http', 'ws');
  const socket = new WebSocket(url, { headers: { origin, cookie: `${cookie}; own=1` } });
  const messages: string[] = [];
  socket.on('message', (data: Buffer) => messages.push(data.toString()));
  const [agreed] = (await once(socket, 'upgrade')) as [IncomingMessage];
  expect(agreed.headers['set-cookie']).toEqual(['own=ws']);
  await expect.poll(() => messages.length).toBe(1);
  expect(JSON.parse(messages[0] ?? '')).toMatchObject({ cookie: 'own=1', host: `localhost:${program.port}` });
  socket.send('there and back');
  await expect.poll(() => messages[1]).toBe('there and back');
  const closed = once(socket, 'close');
  socket.close();
  await closed;
});

test('nobody else gets in: no other site, port, host or cookie', async () => {
  await using program = await Program.listen();
  await using opened = await TestConsole.open();
  const who = await opened.signIn();
  const { origin, cookie } = await enter(await open(opened, who, program.port));
  const host = new URL(origin).host;
  const attempts: [number, Record<string, string>][] = [
    [401, {}],
    [401, { cookie: who.cookie }],
    [401, { cookie: `${cookie.split('=')[0]}=guess` }],
    [403, { cookie, host: 'evil.example' }],
    [403, { cookie, host: `localhost:${host.split(':')[1]}` }],
    [403, { cookie, 'sec-fetch-site': 'cross-site' }],
    [403, { cookie, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }],
    [403, { cookie, origin: opened.origin }],
    [403, { cookie, origin: 'null' }],
    [200, { cookie, 'sec-fetch-site': 'none' }],
    [200, { cookie, origin: 'null', 'sec-fetch-site': 'same-origin' }],
  ];
  for (const [status, headers] of attempts)
    expect({ headers, status: (await ask(`${origin}/`, headers)).status }).toEqual({ headers, status });
  expect((await ask(`${origin}/.execwire/open/guess`, { cookie })).status).toBe(403);
  for (const headers of [{ cookie }, { origin, cookie: who.cookie }, { origin: opened.origin, cookie }]) {
    const socket = new WebSocket(origin.replace('http', 'ws'), { headers });
    const [, refused] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(refused.statusCode).toBe(403);
    socket.on('error', () => undefined);
    socket.terminate();
  }
  // The cookie of a port opens nothing in the console.
  expect((await opened.call({ ...who, cookie }, 'GET', '/api/session')).status).toBe(401);
});

test('viewers open nothing, and nothing stays open for those who are signed out', async () => {
  await using program = await Program.listen();
  await using opened = await TestConsole.open();
  const owner = await opened.signIn();
  const link = (await (await opened.call(owner, 'POST', '/api/links', {})).json()) as { key: string };
  const viewer = await opened.signIn(link.key);
  const wanted = { machine: 'local', port: program.port };
  expect((await opened.call(viewer, 'POST', '/api/ports/open', wanted)).status).toBe(403);
  expect((await opened.call(viewer, 'POST', '/api/ports/close', wanted)).status).toBe(403);
  expect((await opened.call(viewer, 'GET', '/api/ports')).status).toBe(403);
  for (const body of [{}, { ...wanted, port: 0 }, { ...wanted, port: '80' }, { ...wanted, machine: 'other' }])
    expect((await opened.call(owner, 'POST', '/api/ports/open', body)).status).toBe(400);
  const evil = { ...owner, origin: 'http://evil.example' };
  expect((await opened.call(evil, 'POST', '/api/ports/open', wanted)).status).toBe(403);

  const first = await enter(await open(opened, owner, program.port));
  expect((await ask(`${first.origin}/`, { cookie: first.cookie })).status).toBe(200);
  const socket = new WebSocket(first.origin.replace('http', 'ws'), { headers: first });
  await once(socket, 'message');
  // Another browser has a port of its own, and cannot close this one.
  const other = await opened.signIn();
  expect(await (await opened.call(other, 'POST', '/api/ports/close', wanted)).json()).toEqual({
    closed: false,
  });
  expect(new URL(await open(opened, other, program.port)).host).not.toBe(new URL(first.origin).host);
  const cut = once(socket, 'close');
  await opened.call(owner, 'POST', '/api/sign-out', {});
  await cut;
  await expect(ask(`${first.origin}/`, { cookie: first.cookie })).rejects.toThrow('ECONNREFUSED');
});

test('a port where nobody listens, or nobody speaks HTTP, is answered in a sentence', async () => {
  const gone = await Program.listen();
  await using opened = await TestConsole.open();
  const { origin, cookie } = await enter(await open(opened, await opened.signIn(), gone.port));
  await gone[Symbol.asyncDispose]();
  const { status, body } = await ask(`${origin}/`, { cookie });
  expect({ status, body }).toEqual({ status: 502, body: `Nothing listens on port ${gone.port}.\n` });
});

test('sandboxes do not reach an opened port either', async () => {
  await using program = await Program.listen();
  let isAdmitted = true;
  await using opened = await TestConsole.open({ admission: () => isAdmitted });
  const { origin, cookie } = await enter(await open(opened, await opened.signIn(), program.port));
  isAdmitted = false;
  expect((await ask(`${origin}/`, { cookie })).status).toBe(403);
});

test('with TLS, a port has it too, and its cookie cannot be set by others', async () => {
  using folder = new TestFolder();
  const [cert, key] = makeCertificate(folder).map((file) => readFileSync(file));
  if (!cert || !key) throw new Error('there is no certificate');
  await using program = await Program.listen();
  await using opened = await TestConsole.open({ tls: { cert, key }, tokenSha256: Buffer.alloc(32) });
  const origin = opened.console.url.slice(0, -1);
  const secure = async (url: string, method: string, headers: Record<string, string>, body?: object) => {
    const sent = secureRequest(url, { method, headers, ca: cert });
    sent.end(body ? JSON.stringify(body) : '');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
    return { headers: response.headers, status: response.statusCode, body: Buffer.concat(parts).toString() };
  };
  const json = { origin, 'content-type': 'application/json' };
  const signedIn = await secure(`${origin}/api/sign-in`, 'POST', json, { key: opened.keyOf() });
  const { proof } = JSON.parse(signedIn.body) as { proof: string };
  const cookie = signedIn.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const who = { ...json, cookie, 'x-execwire-proof': proof };
  const wanted = { machine: 'local', port: program.port };
  const { url } = JSON.parse((await secure(`${origin}/api/ports/open`, 'POST', who, wanted)).body) as {
    url: string;
  };
  expect(new URL(url)).toMatchObject({ protocol: 'https:', hostname: new URL(origin).hostname });
  const entered = await secure(url, 'GET', {});
  expect(entered.headers['set-cookie']?.[0]).toMatch(/^__Host-execwire-\d+=[\w-]{43};.*; Secure$/);
  // Something else may have been served under this name and port before.
  expect(entered.headers['clear-site-data']).toBe('"cache", "storage"');
  const own = entered.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const page = `${new URL(url).origin}/`;
  const { body } = await secure(page, 'GET', { cookie: `${cookie}; ${own}` });
  expect(JSON.parse(body).headers).not.toHaveProperty('cookie');
  expect((await secure(page, 'GET', { cookie: own, 'service-worker': 'script' })).status).toBe(403);
});
