import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../src/environment/index.js';
import { serve } from '../../src/server/index.js';
import { explainError } from '../../src/transport/dial-failure.js';
import { execwire } from '../../testkit/command-line.mjs';
import { TestFolder } from '../harness/processes.js';

/** Something that listens, and is not what anybody expects there. */
async function listening(answer: (socket: Socket) => void): Promise<{ port: number } & AsyncDisposable> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    answer(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => void (await new Promise((resolve) => server.close(resolve))),
  };
}

function answering(text: string): (socket: Socket) => void {
  return (socket) => void socket.once('data', () => socket.end(text));
}

async function refusal(url: string): Promise<string> {
  const failure: unknown = await openEnvironment(url).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'notConnected' });
  return (failure as Error).message.replace(`Cannot connect to ${url.replace(/(unix):.*/, '$1')}: `, '');
}

describe('listening on a port that is taken', () => {
  test('every command says so, and what to do', { timeout: 60_000 }, async () => {
    await using taken = await listening(() => undefined);
    const place = `127.0.0.1:${taken.port}`;
    const lines = [
      ['serve', '--listen', `ws://${place}`],
      ['serve', '--metrics', place],
      ['serve', '--console', `http://${place}`],
      ['console', '--listen', `http://${place}`],
      ['mcp', '--listen', `http://${place}`],
      ['app-server', '--listen', `ws://${place}`],
      ['gateway', '--fleet', 'nats://127.0.0.1:1', '--insecure', '--listen', `ws://${place}`],
    ];
    const results = await Promise.all(lines.map((line) => execwire(line)));
    const sentence = `Cannot listen on ${place}: another program listens there; stop it, or choose another port (EADDRINUSE).\n`;
    const ends = results.map(({ code, stderr }) => [code !== 0, stderr.slice(-sentence.length)]);
    expect(ends).toEqual(lines.map(() => [true, sentence]));
    for (const { stderr } of results) expect(stderr).not.toContain('    at ');
  });
});

test('listening at a path that cannot be had', async () => {
  using folder = new TestFolder();
  const listen = (path: string): Promise<unknown> => serve({ listen: `unix://${path}` });
  await expect(listen(folder.file('no/s'))).rejects.toThrow(
    `Cannot listen on ${folder.file('no/s')}: there is no directory ${folder.file('no')}; create it first.`,
  );
  const long = folder.file('x'.repeat(108));
  await expect(listen(long)).rejects.toThrow(
    `Cannot listen on ${long}: the path of a socket may have 107 bytes at most; choose a shorter one.`,
  );
  await expect(serve({ listen: 'ws://192.0.2.1:0', auth: { token: 'x'.repeat(20) } })).rejects.toThrow(
    'Cannot listen on 192.0.2.1:0: this machine does not have this address',
  );
});

describe('connecting to something else', () => {
  test.each([
    [
      '200 OK',
      'a web server answers there, but none of Execwire. Check the host, the port and the path (HTTP status 200).',
    ],
    [
      '301 Moved',
      'a web server answers there, but none of Execwire. Check the host, the port and the path (HTTP status 301).',
    ],
    [
      '404 Not Found',
      'a web server answers there, but none of Execwire. Check the host, the port and the path (HTTP status 404).',
    ],
    [
      '403 Forbidden',
      'it refuses this client. If it is a server of Execwire, start it with --allow-host and the host name you use (HTTP status 403).',
    ],
    ['407 No', 'a proxy in between requires a sign-in (HTTP status 407).'],
    ['500 No', 'it has failed. Try again later (HTTP status 500).'],
    ['502 No', 'a proxy in between cannot reach it. Check that the server is running (HTTP status 502).'],
    ['503 No', 'it has no room for another client. Try again later (HTTP status 503).'],
  ])('%s', async (status, sentence) => {
    await using server = await listening(answering(`HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\nno`));
    expect(await refusal(`ws://127.0.0.1:${server.port}`)).toBe(sentence);
  });

  test('another protocol, a hang-up, no socket', async () => {
    using folder = new TestFolder();
    await using ssh = await listening(answering('SSH-2.0-OpenSSH_9.9\r\n'));
    await using mute = await listening((socket) => void socket.destroy());
    expect(await refusal(`ws://127.0.0.1:${ssh.port}`)).toMatch(
      /^what listens there is no server of Execwire\. Check the port \(Parse Error.*\)\.$/,
    );
    expect(await refusal(`ws://127.0.0.1:${mute.port}`)).toMatch(
      /^the server hung up \(.*\)\. If it uses TLS, connect with wss:\/\/ instead of ws:\/\/\.$/,
    );
    expect(await refusal(`unix://${folder.file('none')}`)).toMatch(
      /^there is no socket at this path\. Check that the server is running \(.*\)\.$/,
    );
  });
});

test.each([
  ['CERT_HAS_EXPIRED', 'its certificate has expired (x). Renew it on the server'],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'its certificate is for another name (x). Connect with the name that it is for',
  ],
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    "its certificate is not trusted (x). If it comes from your own CA, set NODE_EXTRA_CA_CERTS to the CA's file",
  ],
  ['EAI_AGAIN', 'its name cannot be looked up at the moment. Check the network (x)'],
  ['ETIMEDOUT', 'nothing answers at this address (x)'],
  ['ECONNRESET', 'the server hung up (x)'],
])('%s', (code, sentence) => {
  expect(explainError(Object.assign(new Error('x'), { code }), { secure: true })).toBe(sentence);
});
