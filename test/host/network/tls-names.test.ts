// Needs: openssl
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readOpening } from '../../../src/host/network/client-hello.js';
import { type Decided, Gate } from '../../../src/host/network/gate.js';
import { Proxy } from '../../../src/host/network/proxy.js';
import { makeCertificate } from '../../harness/certificate.js';
import { TestFolder } from '../../harness/processes.js';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

let certificate: { cert: Buffer; key: Buffer };
beforeAll(() => {
  using folder = new TestFolder();
  const [cert, key] = makeCertificate(folder).map((file) => readFileSync(file));
  if (cert && key) certificate = { cert, key };
});

/** The first bytes a client sends. */
async function helloFor(servername: string | undefined): Promise<Buffer> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connectTls({ port, host: '127.0.0.1', ...(servername ? { servername } : {}) });
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return bytes;
}

/** The same handshake in records of a few bytes, as no client sends it. */
function inPieces(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.of(22, 3, 1, part.length >> 8, part.length & 255), part);
  }
  return Buffer.concat(records);
}

describe('the name in a TLS handshake', () => {
  test('is read, however it is cut', async () => {
    const hello = await helloFor('a.example');
    expect(readOpening(hello)).toEqual({ kind: 'hello', name: 'a.example' });
    for (const size of [10, 50, 100])
      expect(readOpening(inPieces(hello, size))).toMatchObject({ name: 'a.example' });
    for (const length of [0, 1, 5, 6, 40, hello.length - 1])
      expect(readOpening(hello.subarray(0, length)).kind).toBe('more');
  });

  test('may be missing', async () => {
    expect(readOpening(await helloFor(undefined))).toEqual({ kind: 'hello', name: undefined });
  });

  test.each([
    ['a request', Buffer.from('GET / HTTP/1.1\r\n')],
    ['ssh', Buffer.from('SSH-2.0-x\r\n')],
    ['a record of another protocol', Buffer.of(22, 99, 1, 0, 4, 1, 2, 3)],
    ['a length in front of a message', Buffer.of(22, 1, 0, 0, 7, 0, 0, 0)],
    ['another one', Buffer.of(21, 1, 0, 0, 7, 0, 0, 0)],
  ])('%s is something else', (_name, bytes) => {
    expect(readOpening(bytes).kind).toBe('other');
  });

  test('that makes no sense is not passed on', async () => {
    const hello = await helloFor('a.example');
    const at = hello.indexOf('a.example');
    const changed = (offset: number, value: number): Buffer => {
      const copy = Buffer.from(hello);
      copy[at + offset] = value;
      return copy;
    };
    // A list that is longer than its extension, a kind of name nobody knows, a name that is too long.
    for (const bytes of [changed(-4, 99), changed(-3, 9), changed(-1, 99)])
      expect(readOpening(bytes).kind).toBe('broken');
    expect(readOpening(Buffer.concat([hello.subarray(0, 60), Buffer.of(23)])).kind).toBe('more');
    expect(readOpening(Buffer.of(22, 3, 1, 0, 4, 2, 0, 0, 0)).kind).toBe('broken');
    const empty = Buffer.of(22, 3, 1, 0, 0);
    for (const bytes of [empty, inPieces(hello, 1), Buffer.of(22, 3, 1, 0, 4, 1, 255, 255, 255)])
      expect(readOpening(bytes).kind).not.toBe('hello');
    expect(readOpening(inPieces(hello, 1)).kind).toBe('broken');
  });

  test('is not looked for behind what some servers overlook', async () => {
    const hello = await helloFor('b.example');
    const otherVersion = Buffer.from(hello);
    otherVersion[1] = 4;
    const warning = (version: number): Buffer => Buffer.of(21, version, 1, 0, 2, 1, 90);
    for (const bytes of [
      otherVersion,
      Buffer.concat([warning(3), hello]),
      Buffer.concat([warning(4), hello]),
    ]) {
      expect(readOpening(bytes).kind).toBe('broken');
      expect(readOpening(bytes.subarray(0, 5)).kind).toBe('more');
    }
  });
});

describe.each(['CONNECT', 'SOCKS'])('through %s', (way) => {
  async function site() {
    const server = createTlsServer(certificate, (socket) => {
      socket.on('error', () => undefined);
      socket.end(`hello ${String(socket.servername)}`);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    opened.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  async function tunnel(host: string, port: number, allow: string[], deny: string[] = []) {
    const decided: Decided[] = [];
    const gate = new Gate(
      { allow, deny },
      { resolve: async () => [{ address: '127.0.0.1', family: 4 }], onDecided: (each) => decided.push(each) },
    );
    const proxy = new Proxy(gate);
    const server = createServer({ allowHalfOpen: true }, (socket) => proxy.serve(socket));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    opened.push(() => (proxy.close(), server.close()));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    opened.push(() => socket.destroy());
    let heard = '';
    socket.on('data', (bytes: Buffer) => void (heard += bytes.toString('latin1')));
    if (way === 'CONNECT') {
      socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`);
      await once(socket, 'data');
    } else {
      socket.write(Buffer.of(5, 1, 0));
      await once(socket, 'data');
      const name = Buffer.from(host);
      socket.write(
        Buffer.concat([Buffer.of(5, 1, 0, 3, name.length), name, Buffer.of(port >> 8, port & 255)]),
      );
      await once(socket, 'data');
    }
    return { socket, decided, said: () => heard };
  }

  async function shakeHands(socket: Socket, servername: string | undefined): Promise<string> {
    const secure = connectTls({ socket, rejectUnauthorized: false, ...(servername ? { servername } : {}) });
    let said = '';
    secure.on('data', (bytes: Buffer) => void (said += bytes.toString()));
    return await new Promise((resolve) => {
      secure.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      secure.on('close', () => resolve(said));
    });
  }

  const rules = (port: number): string[] => [`a.example:${port}`, '127.0.0.1'];

  test.each([
    ['the host itself', 'a.example', 'hello a.example'],
    ['the host in capitals', 'A.Example', /hello a\.example/i],
    ['no name at all', undefined, 'hello false'],
  ])('%s is asked for', async (_name, servername, expected) => {
    const port = await site();
    const { socket } = await tunnel('a.example', port, rules(port));
    expect(await shakeHands(socket, servername)).toMatch(expected);
  });

  test('another host is refused, in words that clients understand, and told', async () => {
    const port = await site();
    const { socket, decided } = await tunnel('a.example', port, rules(port));
    expect(await shakeHands(socket, 'b.example')).toMatch(/UNRECOGNIZED_NAME/i);
    expect(decided.at(-1)).toMatchObject({
      decision: 'deny',
      reason: 'other_name',
      request: { host: 'b.example', port },
    });
  });

  test('behind an address, a name is asked for unless it is denied', async () => {
    const port = await site();
    const first = await tunnel('127.0.0.1', port, rules(port), ['bad.example']);
    expect(await shakeHands(first.socket, 'c.example')).toBe('hello c.example');
    const second = await tunnel('127.0.0.1', port, rules(port), ['bad.example']);
    expect(await shakeHands(second.socket, 'bad.example')).toMatch(/UNRECOGNIZED_NAME/i);
  });

  test('a handshake in many small pieces gets nowhere else, either', async () => {
    const port = await site();
    const hello = inPieces(await helloFor('b.example'), 10);
    const { socket, decided } = await tunnel('a.example', port, rules(port));
    for (const byte of hello.subarray(0, 400)) socket.write(Buffer.of(byte));
    socket.write(hello.subarray(400));
    const [alert] = (await once(socket, 'data')) as [Buffer];
    expect([...alert]).toEqual([21, 3, 3, 0, 2, 2, 112]);
    expect(decided.at(-1)).toMatchObject({ reason: 'other_name' });
  });

  test('other protocols pass, and a server may speak first', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.write('220 hello\r\n');
      socket.on('data', (bytes) => socket.end(bytes));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    opened.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const { socket, said } = await tunnel('a.example', port, rules(port));
    await expect.poll(said).toMatch(/220 hello\r\n$/);
    socket.write('EHLO x\r\n');
    await expect.poll(said).toMatch(/220 hello\r\nEHLO x\r\n$/);
  });
});
