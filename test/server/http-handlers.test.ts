import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecParams } from '../../src/protocol/index.js';
import { httpHandlers } from '../../src/server/handlers/http-handlers.js';
import { createCaller, recordingContext } from './call-handler.js';

const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const OVERLOADED = -32001;

/** What each path of the test server does. `/echo` answers with what arrived. */
const routes: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/echo': (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'], 'Content-Encoding': 'x-odd' });
      response.end(JSON.stringify({ method: request.method, headers: request.headers, body }));
    });
  },
  '/moved': (_, response) => response.writeHead(302, { location: '/echo' }).end('moved'),
  '/kept': (_, response) => response.writeHead(307, { location: '/echo' }).end(),
  '/away': (_, response) => response.writeHead(302, { location: `${elsewhere}/echo` }).end(),
  '/loop': (_, response) => response.writeHead(302, { location: '/loop' }).end(),
  '/ftp': (_, response) => response.writeHead(302, { location: 'ftp://x/' }).end(),
  '/lost': (_, response) => response.writeHead(302).end('no location'),
  '/teapot': (_, response) => response.writeHead(418).end('short and stout'),
  '/silent': () => undefined,
  '/stuck': (_, response) => void response.writeHead(200).write('begin'),
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('begin', () => response.destroy());
  },
  '/large': (_, response) => {
    response.writeHead(200);
    const more = (left: number): void => {
      if (left === 0) response.end();
      else response.write(Buffer.alloc(256 * 1024, left), () => more(left - 1));
    };
    more(LARGE_PIECES);
  },
  '/heavy': (_, response) => {
    response.writeHead(200);
    const more = (left: number): void => {
      if (left > 0) response.write(Buffer.alloc(1024 * 1024), () => more(left - 1));
    };
    more(HEAVY_MEGABYTES);
  },
};
const LARGE_PIECES = 64;
/** Some of these together are more than may wait in memory; each alone is not. */
const HEAVY_MEGABYTES = 40;
const HEAVY_REQUESTS = 4;

function listen() {
  const server = createServer((request, response) => routes[request.url ?? '']?.(request, response));
  return new Promise<{ url: string; close(): void }>((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        close: () => {
          server.closeAllConnections();
          server.close();
        },
      }),
    );
  });
}

let here: string;
let elsewhere: string;
const servers: { close(): void }[] = [];
beforeAll(async () => {
  const [first, second] = [await listen(), await listen()];
  servers.push(first, second);
  here = first.url;
  elsewhere = second.url;
});
afterAll(() => servers.forEach((server) => server.close()));

function connect() {
  const context = recordingContext();
  const call = createCaller(httpHandlers(context));
  type Params = ExecParams<'http/request'>;
  const send = (params: Partial<Params>) =>
    call('http/request', { requestId: 'r', method: 'GET', url: `${here}/echo`, ...params });
  return { send, context, [Symbol.dispose]: () => context[Symbol.dispose]() };
}

const decode = (text: string): string => Buffer.from(text, 'base64').toString();

/** What `/echo` saw. */
async function echoed(
  answer: Promise<unknown>,
): Promise<{ method: string; headers: Record<string, string>; body: string }> {
  return JSON.parse(decode(((await answer) as { bodyBase64: string }).bodyBase64));
}

describe('http/request', () => {
  test('bodies in one piece do not fill the memory together', async () => {
    const connection = connect();
    const waiting = Array.from({ length: HEAVY_REQUESTS }, () => connection.send({ url: `${here}/heavy` }));
    expect(await Promise.race(waiting)).toBe(OVERLOADED);
    connection[Symbol.dispose]();
    await Promise.all(waiting);
    using next = connect();
    expect(await next.send({ url: `${here}/large` })).toMatchObject({ status: 200 });
  });

  test('a request goes out as given and its answer comes back whole', async () => {
    using wire = connect();
    const headers = [{ name: 'X-One', value: 'é' }];
    const body = { method: 'POST', headers, bodyBase64: Buffer.from('body').toString('base64') };
    const seen = await echoed(wire.send(body));
    expect(seen).toMatchObject({ method: 'POST', body: 'body' });
    expect(seen.headers).toMatchObject({ accept: '*/*', 'content-length': '4' });
    expect(Buffer.from(seen.headers['x-one'] ?? '', 'latin1').toString()).toBe('é');
    const answer = await wire.send({});
    expect(answer).toMatchObject({ status: 200 });
    const names =
      typeof answer === 'number' ? [] : answer.headers.map(({ name, value }) => `${name}: ${value}`);
    expect(names).toEqual(
      expect.arrayContaining(['set-cookie: a=1', 'set-cookie: b=2', 'content-encoding: x-odd']),
    );
    expect(await wire.send({ url: `${here}/teapot` })).toMatchObject({ status: 418 });
    expect(await wire.send({ method: 'HEAD' })).toMatchObject({ status: 200, bodyBase64: '' });
  });

  test('redirects are followed like other clients do, or not at all', async () => {
    using wire = connect();
    const post = { method: 'POST', bodyBase64: Buffer.from('body').toString('base64') };
    const headers = [
      { name: 'authorization', value: 'secret' },
      { name: 'content-type', value: 'text/plain' },
      { name: 'x-kept', value: 'yes' },
    ];
    const moved = await echoed(wire.send({ ...post, url: `${here}/moved`, headers }));
    expect(moved).toMatchObject({ method: 'GET', body: '' });
    expect(moved.headers).toMatchObject({
      authorization: 'secret',
      referer: `${here}/moved`,
      'x-kept': 'yes',
    });
    expect(moved.headers['content-type']).toBeUndefined();
    expect(await echoed(wire.send({ ...post, url: `${here}/kept` }))).toMatchObject({
      method: 'POST',
      body: 'body',
    });
    expect(await wire.send({ url: `${here}/moved`, redirectPolicy: 'stop' })).toMatchObject({ status: 302 });
    expect(await wire.send({ url: `${here}/lost` })).toMatchObject({ status: 302 });
    expect(await wire.send({ url: `${here}/loop` })).toBe(INTERNAL);
    expect(await wire.send({ url: `${here}/ftp` })).toBe(INTERNAL);
  });

  test('secrets do not follow a redirect to another origin', async () => {
    using wire = connect();
    process.env['TEST_HTTP_SECRET'] = 'hidden';
    const headers = [
      { name: 'x-key', value: 'prefix ', valueEnvVar: 'TEST_HTTP_SECRET' },
      { name: 'cookie', value: 'c=1' },
      { name: 'x-kept', value: 'yes' },
    ];
    expect((await echoed(wire.send({ headers }))).headers['x-key']).toBe('prefix hidden');
    const away = await echoed(wire.send({ url: `${here}/away`, headers }));
    expect(away.headers['x-kept']).toBe('yes');
    expect(away.headers['x-key']).toBeUndefined();
    expect(away.headers['cookie']).toBeUndefined();
  });

  test('variables that are unset, empty or not for sending are refused', async () => {
    using wire = connect();
    process.env['TEST_HTTP_EMPTY'] = '';
    process.env['EXECWIRE_TEST'] = 'own';
    const withVariable = (valueEnvVar: string) =>
      wire.send({ headers: [{ name: 'a', value: '', valueEnvVar }] });
    for (const name of [
      'TEST_HTTP_UNSET',
      'TEST_HTTP_EMPTY',
      'OPENAI_API_KEY',
      'AWS_SECRET_ACCESS_KEY',
      'EXECWIRE_TEST',
    ])
      expect(await withVariable(name)).toBe(INVALID_PARAMS);
  });

  test('bad requests and failed ones have different numbers', async () => {
    using wire = connect();
    const bad: Partial<ExecParams<'http/request'>>[] = [
      { method: 'GE T' },
      { method: '' },
      { url: 'nope' },
      { url: 'ftp://x/' },
      { headers: [{ name: 'a b', value: '' }] },
      { headers: [{ name: 'a', value: 'b\r\nc: d' }] },
      { bodyBase64: '!!' },
      { timeoutMs: -1 },
    ];
    for (const params of bad) expect(await wire.send(params)).toBe(INVALID_PARAMS);
    expect(await wire.send({ url: 'http://127.0.0.1:1/' })).toBe(INTERNAL);
    expect(await wire.send({ url: `${here}/cut` })).toBe(INTERNAL);
    expect(await wire.send({ timeoutMs: 0 })).toBe(INTERNAL);
    expect(await wire.send({ url: `${here}/silent`, timeoutMs: 50 })).toBe(INTERNAL);
    expect(await wire.send({ url: `${here}/stuck`, timeoutMs: 50 })).toBe(INTERNAL);
  });
});

describe('http/request/bodyDelta', () => {
  type Delta = { requestId: string; seq: number; deltaBase64: string; done: boolean; error: string | null };
  const deltas = (wire: ReturnType<typeof connect>): Delta[] =>
    wire.context.sent.map((message) => message.params as Delta);
  const finished = (wire: ReturnType<typeof connect>) =>
    wire.context.waitFor(({ params }) => (params as Delta).done);

  test('a streamed body arrives in numbered pieces with one end', async () => {
    using wire = connect();
    const answer = await wire.send({ requestId: 's', url: `${here}/teapot`, streamResponse: true });
    expect(answer).toMatchObject({ status: 418, bodyBase64: '' });
    await finished(wire);
    const items = deltas(wire);
    expect(items.map((item) => decode(item.deltaBase64)).join('')).toBe('short and stout');
    expect(items.map((item) => item.seq)).toEqual(items.map((_, index) => index + 1));
    expect(items.map((item) => item.done)).toEqual(items.map((_, index) => index === items.length - 1));
    expect(items.at(-1)).toEqual({
      requestId: 's',
      seq: items.length,
      deltaBase64: '',
      done: true,
      error: null,
    });
  });

  test('a body that is cut short or too slow ends with an error', async () => {
    for (const params of [{ url: `${here}/cut` }, { url: `${here}/stuck`, timeoutMs: 100 }]) {
      using wire = connect();
      expect(await wire.send({ ...params, streamResponse: true })).toMatchObject({ status: 200 });
      await finished(wire);
      expect(deltas(wire).at(-1)?.error).toEqual(expect.any(String));
      expect(
        deltas(wire)
          .map((item) => decode(item.deltaBase64))
          .join(''),
      ).toBe('begin');
    }
  });

  test('an id under way cannot be used for another stream', async () => {
    using wire = connect();
    const stuck = { url: `${here}/stuck`, streamResponse: true };
    expect(await wire.send(stuck)).toMatchObject({ status: 200 });
    expect(await wire.send(stuck)).toBe(INVALID_PARAMS);
    expect(await wire.send({})).toMatchObject({ status: 200 });
  });

  test('a full connection stops the body; nothing is lost', async () => {
    using wire = connect();
    let release = (): void => undefined;
    wire.context.hold = () => new Promise((resolve) => (release = resolve));
    await wire.send({ url: `${here}/large`, streamResponse: true });
    await wire.context.waitFor(() => true);
    // Other requests come and go while the stream waits.
    wire.context.hold = null;
    for (let round = 0; round < 20; round++) expect(await wire.send({})).toMatchObject({ status: 200 });
    expect(deltas(wire)).toHaveLength(1);
    release();
    await finished(wire);
    const body = Buffer.concat(deltas(wire).map((item) => Buffer.from(item.deltaBase64, 'base64')));
    expect(body.length).toBe(LARGE_PIECES * 256 * 1024);
    expect(body[0]).toBe(LARGE_PIECES);
    expect(body.at(-1)).toBe(1);
  });
});

test('a body in one piece is refused while too many answers are unread', async () => {
  using context = recordingContext();
  let unsent = 127 * 1024 * 1024;
  const call = createCaller(httpHandlers({ ...context, unsentBytes: () => unsent }));
  const ask = () => call('http/request', { requestId: 'r', method: 'GET', url: `${here}/large` });
  expect(await ask()).toBe(OVERLOADED);
  unsent = 0;
  expect(await ask()).toMatchObject({ status: 200 });
});
