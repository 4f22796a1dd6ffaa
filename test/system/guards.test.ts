import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../harness/certificate.js';
import { TestFolder } from '../harness/processes.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';
import { spawn, spawnSync } from 'node:child_process';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly allow: string | undefined;
}

/** A plain HTTP request, or an upgrade when asked: whatever it is answered with. */
async function ask(
  url: string,
  options: { path?: string; method?: string; headers?: Record<string, string>; upgrade?: boolean } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'x'.repeat(22) + '==',
  };
  const request = httpRequest({
    hostname,
    port,
    path: options.path ?? '/',
    method: options.method ?? 'GET',
    headers: { ...(options.upgrade ? upgrade : {}), ...options.headers },
  });
  request.end();
  return await new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, body: '', allow: undefined });
    });
    request.on('response', (response) => {
      let body = '';
      response.on('data', (data: Buffer) => {
        body += data.toString();
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body, allow: response.headers.allow }),
      );
    });
  });
}

describe('an open listener on loopback', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start({ args: ['--allow-host', 'build-box'] });
  });
  afterAll(() => server.stop());

  test.each([
    ['GET /readyz', { path: '/readyz' }, 200],
    ['HEAD /readyz', { path: '/readyz', method: 'HEAD' }, 200],
    ['GET /healthz', { path: '/healthz' }, 200],
    ['POST /readyz', { path: '/readyz', method: 'POST' }, 405],
    ['another path', { path: '/other' }, 404],
    ['no upgrade', {}, 400],
    ['an upgrade', { upgrade: true }, 101],
    ['an upgrade with a query', { upgrade: true, path: '/?x=1' }, 101],
    ['an upgrade elsewhere', { upgrade: true, path: '/other' }, 404],
    ['a wrong version', { upgrade: true, headers: { 'sec-websocket-version': '12' } }, 400],
    ['any Origin', { upgrade: true, headers: { origin: 'http://127.0.0.1' } }, 403],
    ['Origin null', { upgrade: true, headers: { origin: 'null' } }, 403],
    ['an Origin on the probe', { path: '/readyz', headers: { origin: 'http://x' } }, 403],
    ['a foreign Host', { upgrade: true, headers: { host: 'attacker.example' } }, 403],
    ['a foreign Host on the probe', { path: '/readyz', headers: { host: 'attacker.example:80' } }, 403],
    [
      'a Host that only begins like ours',
      { upgrade: true, headers: { host: '127.0.0.1.attacker.example' } },
      403,
    ],
    ['Host localhost', { upgrade: true, headers: { host: 'localhost:1' } }, 101],
    ['an allowed Host', { upgrade: true, headers: { host: 'BUILD-box' } }, 101],
  ])('%s', async (_, options, status) => {
    const answer = await ask(server.url, options);
    expect(answer.status).toBe(status);
    if (status === 405) expect(answer.allow).toBe('GET,HEAD');
  });

  test('no compression and no subprotocol is negotiated', async () => {
    const { socket } = await dialWire(server.url);
    expect(socket.extensions).toBe('');
    expect(socket.protocol).toBe('');
    socket.terminate();
  });

  test('too large a message ends the connection with a reason and leaves the server alone', async () => {
    const { client, socket } = await dialWire(server.url);
    socket.send(Buffer.alloc(64 * 1024 * 1024 + 1, ' '));
    expect((await client.untilClosed()).code).toBe(1009);
    const next = await dialWire(server.url);
    await next.client.handshake();
    next.socket.terminate();
  });

  test('40 MiB in one message pass', async () => {
    const { client, socket } = await dialWire(server.url);
    socket.send(`{"id":1,"method":"no/such","params":"${'x'.repeat(40 * 1024 * 1024)}"}`);
    expect((await client.answerTo(1)).error?.code).toBe(-32601);
    socket.terminate();
  });
});

describe('capability tokens', () => {
  test('the right one gets in, everything else is told why', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('token'), '  s3cret-token-of-this-test\n');
    await using server = await ServerProcess.start({
      args: ['--ws-auth', 'capability-token', '--ws-token-file', folder.file('token')],
    });
    const attempt = (authorization?: string): Promise<Answer> =>
      ask(server.url, { upgrade: true, headers: authorization === undefined ? {} : { authorization } });
    expect(await attempt()).toMatchObject({ status: 401, body: 'missing websocket bearer token' });
    expect(await attempt('Basic abc')).toMatchObject({ status: 401, body: 'invalid authorization header' });
    expect(await attempt('Bearer')).toMatchObject({ status: 401, body: 'invalid authorization header' });
    expect(await attempt('Bearer wrong')).toMatchObject({
      status: 401,
      body: 'invalid websocket bearer token',
    });
    expect(await attempt('bEaReR   s3cret-token-of-this-test ')).toMatchObject({ status: 101 });
    expect(await ask(server.url, { path: '/readyz' })).toMatchObject({ status: 200 });
    expect(
      await ask(server.url, {
        upgrade: true,
        headers: { origin: 'x', authorization: 'Bearer s3cret-token-of-this-test' },
      }),
    ).toMatchObject({ status: 403 });
    expect(server.stderr).not.toContain('s3cret-token-of-this-test');
  });
});

describe('signed tokens', () => {
  const secret = 'k'.repeat(32);
  const now = Math.floor(Date.now() / 1000);

  /** Claims may be text, to say what no object can. */
  function jwt(
    claims: object | string,
    options: { alg?: string; key?: string; header?: object | string } = {},
  ): string {
    const { alg = 'HS256', key = secret } = options;
    const encode = (value: object | string): string =>
      Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
    const body = `${encode(options.header ?? { alg, typ: 'JWT' })}.${encode(claims)}`;
    const hash = alg === 'HS512' ? 'sha512' : 'sha256';
    return `${body}.${alg === 'none' ? '' : createHmac(hash, key).update(body).digest('base64url')}`;
  }

  /** The same signature to whoever drops the bits that fill up its last character. */
  function withStrayBits(token: string): string {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    return token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1];
  }

  test('every reason of refusal', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('secret'), secret);
    await using server = await ServerProcess.start({
      args: [
        '--ws-auth',
        'signed-bearer-token',
        '--ws-shared-secret-file',
        folder.file('secret'),
        '--ws-issuer',
        'me',
        '--ws-audience',
        'you',
        '--ws-max-clock-skew-seconds',
        '60',
      ],
    });
    const good = { iss: 'me', aud: 'you', exp: now + 600 };
    const cases: [string, string | null][] = [
      [jwt(good), null],
      [jwt({ ...good, aud: ['them', 'you'] }), null],
      [jwt({ ...good, exp: now - 20 }), null],
      [jwt({ ...good, exp: now - 600 }), 'expired websocket jwt'],
      [jwt({ ...good, nbf: now + 600 }), 'websocket jwt is not valid yet'],
      [jwt({ ...good, iss: 'other' }), 'websocket jwt issuer mismatch'],
      [jwt({ ...good, aud: 'other' }), 'websocket jwt audience mismatch'],
      [jwt({ iss: 'me', aud: 'you' }), 'invalid websocket jwt'],
      [jwt(good, { key: 'z'.repeat(32) }), 'invalid websocket jwt'],
      [jwt(good, { alg: 'none' }), 'invalid websocket jwt'],
      [jwt(good, { alg: 'HS512' }), 'invalid websocket jwt'],
      ['garbage', 'invalid websocket jwt'],
    ];
    const text = (more: string): string => `{"iss":"me","aud":"you",${more}}`;
    const valid = jwt(good);
    // What a lenient reader lets through. Each is signed with the right key.
    const twisted = [
      jwt(text('"exp":1e999')),
      jwt(text('"exp":1e300')),
      jwt(text(`"exp":"${now + 600}"`)),
      jwt(text(`"exp":null`)),
      jwt(text(`"exp":-1,"exp":${now + 600}`)),
      jwt(text(`"exp":${now + 600},"nbf":-1e999`)),
      jwt(text(`"exp":${now + 600},"nbf":"0"`)),
      jwt(text(`"exp":${now + 600},"iat":"0"`)),
      jwt(`{"iss":"me","iss":"me","aud":"you","exp":${now + 600}}`),
      jwt(`\ufeff${JSON.stringify(good)}`),
      jwt(`[${JSON.stringify(good)}]`),
      jwt(good, { header: `{"alg":"none","alg":"HS256"}` }),
      jwt(good, { header: { alg: 'HS256', crit: ['exp'], exp: 1 } }),
      jwt(good, { header: { alg: 'HS256', crit: [] } }),
      jwt(good, { header: { alg: 'HS256', b64: false, crit: ['b64'] } }),
      jwt(good, { header: { alg: 'hs256' } }),
      jwt(good, { header: { alg: ['HS256'] } }),
      `${valid}=`,
      `${valid}==`,
      `${valid}.`,
      `${valid}.x`,
      `.${valid}`,
      valid.replace('.', '=.'),
      valid.replace('.', '. '),
      valid.replace('.', '.\t'),
      withStrayBits(valid),
      valid.slice(0, -1),
      `${valid}A`,
      valid
        .replaceAll('_', '/')
        .replaceAll('-', '+')
        .concat(/[_-]/.test(valid) ? '' : '='),
    ];
    cases.push(...twisted.map((token): [string, string] => [token, 'invalid websocket jwt']));
    for (const [token, refusal] of cases) {
      const answer = await ask(server.url, { upgrade: true, headers: { authorization: `Bearer ${token}` } });
      expect(answer).toMatchObject(refusal === null ? { status: 101 } : { status: 401, body: refusal });
    }
  });
});

const TOKEN = ['--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64)];

describe('a token on an address others can reach', () => {
  const warning = 'warning: tokens cross the network in plain text';

  /** What a command says until it is ready. */
  async function saidBy(command: string, ...args: string[]): Promise<string> {
    const child = spawn(process.execPath, [bin, command, '--listen', 'ws://0.0.0.0:0', ...TOKEN, ...args]);
    let stderr = '';
    child.stderr.on('data', (data: Buffer) => {
      stderr += data.toString();
    });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    await once(child, 'close');
    return stderr;
  }

  test.each(['serve', 'app-server'])('%s warns, unless told that it is fine', async (command) => {
    expect(await saidBy(command)).toContain(warning);
    expect(await saidBy(command, '--insecure')).not.toContain(warning);
  });

  test('does not travel in plain text with a certificate, nor on loopback', async () => {
    using folder = new TestFolder();
    const [cert, key] = makeCertificate(folder);
    expect(await saidBy('serve', '--tls-cert', cert, '--tls-key', key)).not.toContain(warning);
    await using server = await ServerProcess.start({ args: TOKEN });
    expect(server.stderr).not.toContain(warning);
  });

  test('has 16 characters at least, and is not told when it has not', () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('token'), 'fifteen-letters\n');
    for (const command of ['serve', 'app-server']) {
      const args = ['--listen', 'ws://127.0.0.1:0', '--ws-auth', 'capability-token'];
      const { status, stderr } = spawnSync(
        process.execPath,
        [bin, command, ...args, '--ws-token-file', folder.file('token')],
        { encoding: 'utf8', timeout: 20_000 },
      );
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('at least 16') });
      expect(stderr).not.toContain('fifteen');
    }
  });
});

describe('start-up', () => {
  const serve = (...args: string[]): { status: number | null; stderr: string } =>
    spawnSync(process.execPath, [bin, 'serve', ...args], { encoding: 'utf8', timeout: 20_000 });

  test.each([
    [['--listen', 'ws://0.0.0.0:0'], /without authentication.*--token-file/s],
    [['--listen', 'ws://[::]:0'], /without authentication/],
    [['--listen', 'wss://127.0.0.1:0'], /--tls-cert and --tls-key/],
    [['--listen', 'wss://0.0.0.0:0', ...TOKEN], /--tls-cert and --tls-key/],
    [['--listen', 'ws://localhost:0'], /IP address/],
    [['--listen', 'ws://127.0.0.1:0/path'], /Cannot listen/],
    [['--listen', 'http://127.0.0.1:0'], /Cannot listen/],
    [['--listen', 'stdio', '--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64)], /stdio/],
    [['--ws-auth', 'capability-token'], /exactly one of/],
    [['--ws-auth', 'capability-token', '--ws-token-sha256', 'xyz'], /64 hexadecimal/],
    [
      ['--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64), '--ws-issuer', 'x'],
      /--ws-issuer/,
    ],
    [['--ws-auth', 'signed-bearer-token'], /--ws-shared-secret-file/],
    [['--ws-token-file', '/x'], /needs --ws-auth/],
    [['--ws-auth', 'nonsense'], /Allowed choices/],
    [['--tls-cert', '/x'], /must be used together/],
    [['--session-ttl', 'soon'], /whole number/],
    [['--no-such-flag'], /unknown option/],
  ])('%j is refused with exit 2 and a sentence', (args, sentence) => {
    const { status, stderr } = serve(...args);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(sentence) });
    expect(stderr).not.toContain('    at ');
  });

  test('one address that cannot be had is reason enough not to start', async () => {
    await using server = await ServerProcess.start();
    const { status, stderr } = serve('--listen', 'ws://127.0.0.1:0', '--listen', server.url);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringMatching(
        /Cannot listen on 127\.0\.0\.1:\d+: another program listens there.*EADDRINUSE/,
      ),
    });
    expect(stderr).not.toContain('    at ');
  });

  test('a unix socket is for its owner alone, survives a stale file, and refuses a live one', async () => {
    using folder = new TestFolder();
    const url = `unix://${folder.file('s')}`;
    const first = await ServerProcess.start({ args: ['--listen', url] });
    expect(first.url).toBe(url);
    expect(statSync(folder.file('s')).mode & 0o777).toBe(0o600);
    const { client } = await dialWire(url);
    await client.handshake();
    expect(serve('--listen', url)).toMatchObject({ status: 2, stderr: expect.stringContaining('in use') });
    await first.stop('SIGKILL');
    await using second = await ServerProcess.start({ args: ['--listen', url] });
    const again = await dialWire(second.url);
    await again.client.handshake();
  });

  test('nothing but a socket makes room for a unix socket', async () => {
    using folder = new TestFolder();
    writeFileSync(folder.file('notes'), 'years of work');
    symlinkSync('notes', folder.file('link'));
    for (const name of ['notes', 'link']) {
      expect(serve('--listen', `unix://${folder.file(name)}`)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('not a socket'),
      });
    }
    expect(readFileSync(folder.file('link'), 'utf8')).toBe('years of work');
  });

  test('HTTP from this machine can be switched off; then nothing of it is left', async () => {
    for (const [args, code] of [
      [[], -32602],
      [['--no-http'], -32601],
    ] as const) {
      await using server = await ServerProcess.start({ args: [...args] });
      const { client } = await dialWire(server.url);
      await client.handshake();
      expect(await client.refusal('http/request', {})).toBe(code);
      const { capabilities } = await client.call('environment/info');
      expect(Object.hasOwn(capabilities as object, 'httpHeaderEnvVars')).toBe(code === -32602);
    }
  });

  test('TLS serves wss://', async () => {
    using folder = new TestFolder();
    const [cert, key] = makeCertificate(folder);
    await using server = await ServerProcess.start({
      args: ['--listen', 'wss://127.0.0.1:0', '--tls-cert', cert, '--tls-key', key],
    });
    expect(server.url).toMatch(/^wss:\/\/127\.0\.0\.1:\d+$/);
    const { WebSocket } = await import('ws');
    const socket = new WebSocket(server.url, { rejectUnauthorized: false });
    await once(socket, 'open');
    socket.terminate();
  });

  test('several listeners, one line each; SIGTERM and SIGINT end it with 0', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      await using server = await ServerProcess.start({
        args: ['--listen', 'ws://127.0.0.1:0', '--listen', 'ws://[::1]:0'],
      });
      const { client } = await dialWire(server.url);
      await client.handshake();
      const closed = client.untilClosed();
      expect(await server.stop(signal)).toBe(0);
      expect(await closed).toMatchObject({ code: 1000, reason: 'the server is shutting down' });
    }
  });

  test('a client that never finishes its upgrade does not keep the server from ending', async () => {
    await using server = await ServerProcess.start();
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\n');
    socket.on('error', () => undefined);
    expect(await server.stop()).toBe(0);
    socket.destroy();
  });
});
