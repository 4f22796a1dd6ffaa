import { once } from 'node:events';
import { request } from 'node:http';
import { WebSocket } from 'ws';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ConsoleServer } from '../../src/console/index.js';
import { execMethods } from '../../src/protocol/index.js';
import { sha256 } from '../../src/transport/index.js';
import { socketWire, startParams, WireClient } from '../../testkit/wire-client.mjs';
import { TestConsole, type Visitor } from '../harness/console.js';

async function client(opened: TestConsole, who: Visitor): Promise<{ socket: WebSocket; wire: WireClient }> {
  const socket = await opened.connect(who);
  if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
  return { socket, wire: new WireClient(socketWire(socket)) };
}

/** Node’s own client lets us send any Host. */
async function statusWith(origin: string, path: string, headers: Record<string, string>): Promise<number> {
  const { port } = new URL(origin);
  const sent = request({ host: '127.0.0.1', port, path, headers });
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the link', () => {
  test('opens one browser, once; then another one is printed', async () => {
    await using opened = await TestConsole.open();
    const link = opened.console.newLink();
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#key=[\w-]{43}$/);
    const key = opened.keyOf(link);
    await opened.signIn(key);
    await expect(opened.signIn(key)).rejects.toThrow('403');
    expect(opened.links).toHaveLength(1);
    await opened.signIn(opened.keyOf(opened.links[0]));
  });

  test('is replaced by the next one', async () => {
    await using opened = await TestConsole.open();
    const [first, second] = [opened.keyOf(), opened.keyOf()];
    await expect(opened.signIn(first)).rejects.toThrow('403');
    await opened.signIn(second);
  });

  test('is open to whoever has it while others guess', async () => {
    await using opened = await TestConsole.open({ tokenSha256: sha256('the right token') });
    const key = opened.keyOf();
    const tryToken = async (token: string): Promise<number> => {
      const headers = { origin: opened.origin };
      return (await opened.fetch('/api/sign-in', { method: 'POST', headers, body: { token } })).status;
    };
    for (let count = 0; count < 20; count += 1) expect(await tryToken('guess')).toBe(403);
    // From here on even the right one is not looked at: people choose tokens, and such can be guessed.
    expect(await tryToken('guess')).toBe(429);
    expect(await tryToken('the right token')).toBe(429);
    await expect(opened.signIn('guess')).rejects.toThrow('429');
    const who = await opened.signIn(key);
    expect((await opened.call(who, 'GET', '/api/session')).status).toBe(200);
  });

  test('slows down guesses however the clock is moved', async () => {
    await using opened = await TestConsole.open();
    const guess = () => opened.signIn('guess').catch((error: Error) => error.message);
    for (let count = 0; count < 20; count += 1) await guess();
    const real = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => real() + 3_600_000);
    expect(await guess()).toBe('sign-in: 429');
  });
});

describe('a browser that is signed in', () => {
  test('has a cookie that scripts and other sites cannot use', async () => {
    await using opened = await TestConsole.open();
    const { origin } = opened;
    const body = { key: opened.keyOf() };
    const answer = await opened.fetch('/api/sign-in', { method: 'POST', headers: { origin }, body });
    const { port } = new URL(origin);
    expect(answer.headers.get('set-cookie')).toMatch(
      new RegExp(`^execwire-${port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$|43199$`),
    );
    expect(answer.headers.get('set-cookie')).not.toMatch(/domain/i);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('needs cookie, proof, origin and host, each of them', async () => {
    await using opened = await TestConsole.open();
    const who = await opened.signIn();
    const other = await opened.signIn();
    const { port } = new URL(opened.origin);
    const attempts: [number, Partial<Visitor>, Record<string, string>?][] = [
      [403, { ...who, origin: '' }],
      [403, { ...who, origin: 'http://evil.example' }],
      [403, { ...who, origin: `http://127.0.0.1:${Number(port) + 1}` }],
      [403, { ...who, origin: `http://localhost:${port}` }],
      [403, { ...who, origin: `https://127.0.0.1:${port}` }],
      [403, { ...who, origin: 'null' }],
      [403, { ...who, origin: `http://evil.example:${port}` }, { host: `evil.example:${port}` }],
      [403, who, { 'sec-fetch-site': 'cross-site' }],
      [401, { ...who, cookie: '' }],
      [401, { ...who, proof: '' }],
      [401, { origin: who.origin, cookie: who.cookie }],
      [401, { ...who, proof: other.proof }],
      [401, { ...who, cookie: other.cookie }],
    ];
    for (const [status, visitor, headers] of attempts)
      expect({
        visitor,
        headers,
        got: await opened.connect(visitor, headers ? { headers } : {}),
      }).toMatchObject({
        got: status,
      });
    for (const path of ['/', '/machines/', '/machines/other', '/machines/local/', '/machines/..%2flocal'])
      expect(await opened.connect(who, { path })).toBe(404);
    const socket = await opened.connect(who);
    expect(socket).toBeInstanceOf(WebSocket);
    (socket as WebSocket).terminate();
  });

  test('changes nothing when another site asks', async () => {
    await using opened = await TestConsole.open();
    const who = await opened.signIn();
    for (const origin of ['http://evil.example', 'null', ''])
      for (const path of ['/api/links', '/api/sign-out', '/api/sign-in'])
        expect((await opened.call({ ...who, origin }, 'POST', path, {})).status).toBe(403);
    expect((await opened.call(who, 'GET', '/api/session')).status).toBe(200);
    const host = { host: 'evil.example' };
    for (const path of ['/', '/api/session', '/index.html'])
      expect(await statusWith(opened.origin, path, host)).toBe(403);
    expect(await statusWith(opened.origin, '/api/session', { 'sec-fetch-site': 'same-site' })).toBe(403);
  });

  test('is signed out for good, and its connections with it', async () => {
    await using opened = await TestConsole.open();
    const who = await opened.signIn();
    const { socket, wire } = await client(opened, who);
    await wire.handshake();
    const closed = once(socket, 'close');
    expect((await opened.call(who, 'POST', '/api/sign-out', {})).status).toBe(200);
    expect((await closed)[0]).toBe(4401);
    expect(await opened.connect(who)).toBe(401);
    expect((await opened.call(who, 'GET', '/api/session')).status).toBe(401);
  });

  test('is one of 128; the first is signed out for another', async () => {
    await using opened = await TestConsole.open();
    const first = await opened.signIn();
    for (let count = 0; count < 128; count += 1) await opened.signIn();
    expect((await opened.call(first, 'GET', '/api/session')).status).toBe(401);
  });
});

describe('the page', () => {
  test('forbids scripts of others, frames, and making markup of text', async () => {
    await using opened = await TestConsole.open();
    for (const path of ['/', '/icon.svg', '/nothing', '/api/session']) {
      const { headers } = await opened.fetch(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self';");
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(/script-src[^;]*unsafe/.test(policy)).toBe(false);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    }
    const page = await (await opened.fetch('/')).text();
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| on\w+=|javascript:/i);
  });

  test('is sent compressed as the browser likes it, and always the same', async () => {
    await using opened = await TestConsole.open();
    const page = await (await opened.fetch('/')).text();
    const [script = ''] = /\/assets\/index-[^"]+\.js/.exec(page) ?? [];
    // `fetch` undoes the encoding.
    const read = async (encoding: string): Promise<[string | null, string]> => {
      const answer = await opened.fetch(script, { headers: { 'accept-encoding': encoding } });
      return [answer.headers.get('content-encoding'), await answer.text()];
    };
    const [[, plain], ...encoded] = [
      await read('identity'),
      await read('gzip, deflate'),
      await read('gzip, br'),
    ];
    expect(plain.length).toBeGreaterThan(100_000);
    expect(encoded).toEqual([
      ['gzip', plain],
      ['br', plain],
    ]);
    expect(await statusWith(opened.origin, `${script}.br`, {})).toBe(404);
  });

  test('is all that can be read', async () => {
    await using opened = await TestConsole.open();
    const paths = [
      '/../package.json',
      '/%2e%2e/package.json',
      '/assets/',
      '/.built-from',
      '//etc/passwd',
      '/index.html/',
    ];
    for (const path of paths) expect(await statusWith(opened.origin, path, {})).toBe(404);
    expect((await opened.fetch('/', { method: 'POST', body: {} })).status).toBe(405);
    expect((await opened.fetch('/', { method: 'HEAD' })).status).toBe(200);
  });

  test('does not accept long or strange requests', async () => {
    await using opened = await TestConsole.open();
    const { origin } = opened;
    const long = { key: 'x'.repeat(100_000) };
    const answer = await opened.fetch('/api/sign-in', { method: 'POST', headers: { origin }, body: long });
    expect(answer.status).toBe(403);
    for (const body of ['', '[]', '{', '"x"', 'null'])
      expect(
        await fetch(`${origin}/api/sign-in`, {
          method: 'POST',
          headers: { origin, 'content-type': 'application/json' },
          body,
        }).then(({ status }) => status),
      ).toBe(403);
  });
});

describe('a link for viewers', () => {
  async function viewer(opened: TestConsole): Promise<{ owner: Visitor; who: Visitor; id: string }> {
    const owner = await opened.signIn();
    const { id, key } = (await (await opened.call(owner, 'POST', '/api/links', {})).json()) as {
      id: string;
      key: string;
    };
    return { owner, who: await opened.signIn(key), id };
  }

  test('shows processes and refuses every method that would change something', async () => {
    await using opened = await TestConsole.open();
    const { owner, who } = await viewer(opened);
    const { wire: full } = await client(opened, owner);
    const { wire } = await client(opened, who);
    const fullSession = await full.handshake();
    await full.call('process/start', startParams('p', ['cat'], { tty: true, lease: 'kept' }));
    await wire.handshake();
    const { processes } = await wire.call('process/list', { scope: 'server', details: true });
    expect(processes).toMatchObject([{ processId: 'p', argv: ['cat'] }]);
    expect(
      await wire.call('process/attach', { processId: 'p', keyboard: 'take', screen: true }),
    ).toMatchObject({
      holds: false,
    });
    const allowed =
      /^(initialize|environment\/(info|status|usage)|process\/(list|attach|detach|read|history|search|lines|inspect|wait))$/;
    const refused = Object.keys(execMethods).filter((name) => !allowed.test(name));
    expect(refused.length).toBeGreaterThan(25);
    for (const method of [...refused, 'nonsense', '__proto__'])
      expect({ method, code: (await wire.ask(method, { processId: 'p' })).error?.data?.code }).toEqual({
        method,
        code: 'viewOnly',
      });
    // The session of somebody else cannot be taken over.
    const { wire: thief } = await client(opened, who);
    const { sessionId } = await thief.call('initialize', { clientName: '', resumeSessionId: fullSession });
    expect(sessionId).not.toBe(fullSession);
    await full.call('process/write', { processId: 'p', writeId: '1', chunk: '' });
  });

  test('does not let anything pass that two readers could understand differently', async () => {
    await using opened = await TestConsole.open();
    const { who } = await viewer(opened);
    const texts = [
      '[]',
      '[{"id":1,"method":"process/start"}]',
      '{',
      '"x"',
      'null',
      `{"a":"${'x'.repeat(70_000)}"}`,
    ];
    for (const message of [...texts, Buffer.from([0, 1, 2])]) {
      const { socket } = await client(opened, who);
      const closed = once(socket, 'close');
      socket.send(message);
      expect((await closed)[0]).toBe(1002);
    }
    const { wire } = await client(opened, who);
    await wire.handshake();
    wire.send('{"id":"a","method":"process/list","method":"process/start","params":null}');
    expect((await wire.answerTo('a')).error?.data?.code).toBe('viewOnly');
    wire.send('{"id":"b","method":"process/start","method":"process/list","params":null}');
    expect((await wire.answerTo('b')).result).toEqual({ processes: [] });
  });

  test('hands out nothing itself, and ends at once when it is revoked', async () => {
    await using opened = await TestConsole.open();
    const { owner, who, id } = await viewer(opened);
    expect((await opened.call(who, 'POST', '/api/links', {})).status).toBe(403);
    expect((await opened.call(who, 'GET', '/api/links')).status).toBe(403);
    const { socket } = await client(opened, who);
    const closed = once(socket, 'close');
    const { links } = (await (await opened.call(owner, 'GET', '/api/links')).json()) as { links: object[] };
    expect(links).toEqual([{ id, expiresAtMs: expect.any(Number) }]);
    await opened.call(owner, 'POST', '/api/links/revoke', { id });
    expect((await closed)[0]).toBe(4401);
    expect(await opened.connect(who)).toBe(401);
    expect(await opened.connect(owner)).toBeInstanceOf(WebSocket);
  });

  test('signs nobody else out, and leaves connections to others', async () => {
    await using opened = await TestConsole.open();
    const { owner, who } = await viewer(opened);
    const link = await opened.call(owner, 'POST', '/api/links', {});
    const { key } = (await link.json()) as { key: string };
    for (let count = 0; count < 200; count += 1) await opened.signIn(key);
    expect((await opened.call(owner, 'GET', '/api/session')).status).toBe(200);
    // The viewer who came first has made room for the others.
    expect((await opened.call(who, 'GET', '/api/session')).status).toBe(401);
    const last = await opened.signIn(key);
    const all = await Promise.all(Array.from({ length: 300 }, () => opened.connect(last)));
    expect(all.filter((each) => each === 503)).toHaveLength(300 - 256);
    const { wire } = await client(opened, owner);
    await wire.handshake();
    const [first] = all.filter((each) => each instanceof WebSocket);
    first?.terminate();
    await expect.poll(async () => await opened.connect(last)).toBeInstanceOf(WebSocket);
  }, 30_000);

  test('expires, also for those who view', async () => {
    await using opened = await TestConsole.open();
    const owner = await opened.signIn();
    // However long it takes to sign in and to connect, the link is valid then.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const link = await opened.call(owner, 'POST', '/api/links', { forMs: 60_000 });
    const { key } = (await link.json()) as { key: string };
    const who = await opened.signIn(key);
    const { socket } = await client(opened, who);
    const closed = once(socket, 'close');
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    expect((await closed)[0]).toBe(4401);
    await expect(opened.signIn(key)).rejects.toThrow('403');
  });
});

describe('a view link, when the clock of the machine is set', () => {
  const HOUR_MS = 3_600_000;

  test.each([
    ['ahead', 48 * HOUR_MS],
    ['back', -48 * HOUR_MS],
  ])('%s, is valid for as long as it was meant to be', async (_where, jumpMs) => {
    await using opened = await TestConsole.open();
    const owner = await opened.signIn();
    const link = await opened.call(owner, 'POST', '/api/links', { forMs: HOUR_MS });
    const { key } = (await link.json()) as { key: string };
    const real = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => real() + jumpMs);
    const { links } = (await (await opened.call(owner, 'GET', '/api/links')).json()) as {
      links: { expiresAtMs: number }[];
    };
    const [listed] = links.map(({ expiresAtMs }) => (expiresAtMs - Date.now()) / HOUR_MS);
    expect(listed).toBeCloseTo(1, 1);
    const { origin } = opened;
    const answer = await opened.fetch('/api/sign-in', { method: 'POST', headers: { origin }, body: { key } });
    expect(answer.headers.get('set-cookie')).toMatch(/Max-Age=3(600|5\d\d)$/);
    const { proof, expiresAtMs } = (await answer.json()) as { proof: string; expiresAtMs: number };
    expect((expiresAtMs - Date.now()) / HOUR_MS).toBeCloseTo(1, 1);
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await opened.call({ origin, cookie, proof }, 'GET', '/api/session')).status).toBe(200);
  });
});

describe('an address on the network', () => {
  const pageDirectory = '/tmp';
  const rest = { pageDirectory, machines: [], version: '' };

  test('needs TLS and a token', async () => {
    const address = { kind: 'tcp', host: '0.0.0.0', port: 0 } as const;
    const tls = { cert: Buffer.from(''), key: Buffer.from('') };
    const tokenSha256 = Buffer.alloc(32);
    for (const lacking of [{}, { tls }, { tokenSha256 }])
      await expect(ConsoleServer.open({ address, ...rest, ...lacking })).rejects.toThrow(
        'without TLS and a token',
      );
    const secure = { kind: 'tcp', host: '127.0.0.1', port: 0, secure: true } as const;
    await expect(ConsoleServer.open({ address: secure, ...rest })).rejects.toThrow('--tls-cert');
  });
});

test('whoever may come from a sandbox is not even shown the page', async () => {
  await using opened = await TestConsole.open({ admission: () => false });
  expect((await opened.fetch('/')).status).toBe(403);
  expect(await opened.connect({ origin: opened.origin })).toBe(403);
});
