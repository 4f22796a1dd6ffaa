import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { ExecClient } from '../../src/client/index.js';
import { dialWebSocket } from '../../src/transport/index.js';
import { CommandLine } from '../../testkit/command-line.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { serve } from '../harness/serve.js';
import {
  bomb,
  bombBehindLimit,
  CONTINUES,
  DEFLATED_TEXT,
  DEFLATED_TEXT_BEGINS,
  ENDS,
  frame,
  TEXT_BEGINS,
} from './deflate-bombs.js';
import { tally, tries } from './tally.js';

const MEBIBYTE = 1024 * 1024;
const SERVER_LIMIT = 64 * MEBIBYTE;
const CLIENT_LIMIT = 144 * MEBIBYTE;
/** Inflating this takes minutes. */
const GIBIBYTES = 16;
/** What a server or client may take with a message of the longest kind in the making. */
const MAX_PEAK = { server: 400 * MEBIBYTE, client: 700 * MEBIBYTE };

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start({ args: ['--compression', 'always', '--log-level', 'silent'] });
});
afterAll(() => server.stop());

/** The most memory a process ever had. Nothing if it has ended. */
function peakBytes(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** A client that compresses, and the stream on which it can misbehave. */
async function connect(url: string): Promise<{ socket: WebSocket; raw: Socket; closed: Promise<string> }> {
  const socket = new WebSocket(url, { perMessageDeflate: { threshold: 0 } });
  socket.on('error', () => undefined);
  const closed = once(socket, 'close').then(([code, reason]) => `${code} ${reason}`.trim());
  await once(socket, 'open');
  onTestFinished(() => socket.terminate());
  return { socket, raw: Reflect.get(socket, '_socket') as Socket, closed };
}

/** Somebody with good intentions, who compresses too. */
async function isServed(url: string): Promise<void> {
  const { socket } = await connect(url);
  socket.send(JSON.stringify({ id: 1, method: 'initialize', params: { clientName: 'x'.repeat(5_000) } }));
  const [answer] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(answer.toString())).toMatchObject({ id: 1, result: { sessionId: expect.any(String) } });
  socket.terminate();
}

describe('a message that becomes too long when inflated, before any handshake', () => {
  const piece = bomb(16);
  const fragmented = [
    frame(DEFLATED_TEXT_BEGINS, piece),
    ...Array.from({ length: 200 }, () => frame(CONTINUES, piece)),
    frame(ENDS, piece),
  ];
  const endless = bombBehindLimit({ limit: SERVER_LIMIT, gibibytes: GIBIBYTES });
  test.each<[string, () => Buffer]>([
    ['in one frame', () => frame(DEFLATED_TEXT, bomb(1024))],
    ['in many', () => Buffer.concat(fragmented)],
    ['for minutes', () => frame(DEFLATED_TEXT, endless)],
  ])('%s is cut, and nobody else notices', async (name, message) => {
    const attackers = await Promise.all(Array.from({ length: 3 }, () => connect(server.url)));
    const bytes = message();
    for (const { raw } of attackers) raw.write(bytes);
    await isServed(server.url);
    expect(await Promise.all(attackers.map(({ closed }) => closed))).toEqual(['1009', '1009', '1009']);
    expect(peakBytes(server.pid)).toBeLessThan(3 * MAX_PEAK.server);
    tally(`bombs ${name}`, { tries: attackers.length, successes: 0 });
  });
});

describe('messages that never end', () => {
  const maxUnfinishedBytes = 48 * MEBIBYTE;
  test.each<[string, () => Buffer]>([
    ['deflated', () => frame(DEFLATED_TEXT_BEGINS, bomb(16))],
    ['as they are', () => frame(TEXT_BEGINS, Buffer.alloc(16 * MEBIBYTE, 0x20))],
  ])('%s: the stalest are cut, so that all together stay below a limit', async (name, message) => {
    await using small = await serve({ maxUnfinishedBytes, compression: 'always' });
    const honest = await connect(small.url);
    const bytes = message();
    // More connections than these are refused for another reason.
    const length = Math.min(tries(12), 60);
    const attackers = await Promise.all(Array.from({ length }, () => connect(small.url)));
    for (const { raw } of attackers) raw.write(bytes);
    const ended = new Set<string>();
    for (const { closed } of attackers) void closed.then((how) => ended.add(how));
    const open = (): number => attackers.filter(({ socket }) => socket.readyState === socket.OPEN).length;
    await expect.poll(open, { timeout: 30_000 }).toBeLessThanOrEqual(3);
    expect([...ended]).toEqual(['1013 there are too many unfinished messages']);
    expect(honest.socket.readyState).toBe(honest.socket.OPEN);
    await isServed(small.url);
    tally(`unfinished messages ${name}`, { tries: attackers.length, successes: 0 });
  });

  test('a message that does end is not in the way of the next', async () => {
    await using small = await serve({ maxUnfinishedBytes, compression: 'always' });
    const { socket } = await connect(small.url);
    const text = JSON.stringify({ id: 1, method: 'x', params: { text: ' '.repeat(20 * MEBIBYTE) } });
    for (let count = 0; count < 5; count += 1) {
      socket.send(text);
      await once(socket, 'message');
    }
    expect(socket.readyState).toBe(socket.OPEN);
  });
});

test.each([
  ['ping', 0xc9],
  ['pong', 0xca],
  ['close', 0xc8],
])('a deflated %s ends the connection', async (_name, first) => {
  const { raw, closed } = await connect(server.url);
  raw.write(Buffer.from([first, 0x82, 0, 0, 0, 0, 0x03, 0x00]));
  expect(await closed).toBe('1002');
});

describe('an offer of compression', () => {
  /** What the server agrees to, or its refusal. */
  async function answerTo(offer: string): Promise<string> {
    const headers = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-extensions': offer,
    };
    const asked = httpRequest(server.url.replace('ws:', 'http:'), { headers }).end();
    return await new Promise((resolve) => {
      asked.once('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response.headers['sec-websocket-extensions'] ?? 'none');
      });
      asked.once('response', (response) => resolve(String(response.resume().statusCode)));
    });
  }

  const agreed = 'permessage-deflate; server_no_context_takeover; client_no_context_takeover';
  test.each([
    ['permessage-deflate', agreed],
    ['permessage-deflate; client_max_window_bits', agreed],
    ['permessage-deflate; client_max_window_bits=8', expect.stringContaining('permessage-deflate')],
    // We deflate with the largest window: less would arrive as nonsense.
    ['permessage-deflate; server_max_window_bits=9', 'none'],
    ['permessage-deflate; server_max_window_bits=12; client_max_window_bits=12', 'none'],
    ['permessage-deflate; server_max_window_bits=99999999999', 'none'],
    ['permessage-deflate; client_max_window_bits=16', '400'],
    ['permessage-deflate; client_max_window_bits=-1', '400'],
    ['permessage-deflate; client_max_window_bits=1e999', '400'],
    ['permessage-deflate; client_max_window_bits=9; client_max_window_bits=15', '400'],
    ['permessage-deflate, permessage-deflate; x=1', '400'],
  ])('%s', async (offer, answer) => {
    expect(await answerTo(offer)).toEqual(answer);
    await isServed(server.url);
  });
});

describe('a server that sends a bomb', () => {
  const endless = bombBehindLimit({ limit: CLIENT_LIMIT, gibibytes: GIBIBYTES });

  /** Sends that, before or after a good answer to the handshake. */
  async function hostile(bytes: Buffer, when: 'at once' | 'after the handshake'): Promise<string> {
    const listener = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: true });
    listener.on('connection', (socket) => {
      socket.on('error', () => undefined);
      const attack = (): void => void (Reflect.get(socket, '_socket') as Socket).write(bytes);
      if (when === 'at once') attack();
      socket.on('message', (data: Buffer) => {
        const { id } = JSON.parse(data.toString()) as { id?: number };
        if (when === 'at once' || id === undefined) return;
        const shell = { name: 'sh', path: '/bin/sh' };
        const result = { sessionId: 's', environmentInfo: { shell, cwd: 'file:///' }, capabilities: {} };
        socket.send(JSON.stringify({ id, result }), { compress: false });
        attack();
      });
    });
    await once(listener, 'listening');
    onTestFinished(() => {
      for (const socket of listener.clients) socket.terminate();
      listener.close();
    });
    return `ws://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  }

  test.each<[string, () => Buffer]>([
    ['in one frame', () => frame(DEFLATED_TEXT, bomb(1024), 'server')],
    ['for minutes', () => frame(DEFLATED_TEXT, endless, 'server')],
  ])('%s: the library says that the connection was lost', async (_name, message) => {
    const url = await hostile(message(), 'after the handshake');
    const client = await ExecClient.connect({ dial: () => dialWebSocket(url), resume: false });
    onTestFinished(() => client.close());
    await expect(client.call('environment/status', {})).rejects.toMatchObject({
      code: expect.stringMatching(/^(connectionClosed|notConnected)$/),
      message: expect.stringContaining('Max payload size exceeded'),
    });
  });

  test('the command line says so, and takes no more memory than a message may', async () => {
    const url = await hostile(frame(DEFLATED_TEXT, endless, 'server'), 'at once');
    const command = new CommandLine(['run', '-e', url, '--', 'true']);
    let peak = 0;
    const looks = setInterval(() => {
      peak = Math.max(peak, peakBytes(command.child.pid ?? -1));
    }, 20);
    const { code, stderr } = await command.result();
    clearInterval(looks);
    expect(code).not.toBe(0);
    expect(stderr).toContain('Max payload size exceeded');
    expect(peak).toBeLessThan(MAX_PEAK.client);
  });
});
