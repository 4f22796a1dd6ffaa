import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { deflateRawSync, constants } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

const MEBIBYTE = 1024 * 1024;
/** A server that compresses for everybody, so that a line between two programs of one machine will do. */
let server: ServerProcess;
const folder = new TestFolder();

beforeAll(async () => {
  server = await ServerProcess.start({ args: ['--compression', 'always'] });
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

function logLines(bytes: number): Buffer {
  const lines: string[] = [];
  for (let n = 0, length = 0; length < bytes; n += 1) {
    const id = ((n * 2_654_435_761) >>> 0).toString(16);
    const line = `2026-01-01T10:${n % 60}:${(n * 7) % 60} INFO worker-${n % 8} id=${id} path=/items/${n} took=${n % 97}ms\n`;
    lines.push(line);
    length += line.length;
  }
  return Buffer.from(lines.join('')).subarray(0, bytes);
}

/** Prints it at the other end of a line. Resolves to how many bytes came through, all of it being what was printed. */
async function bytesOnTheLine(
  content: Buffer,
  { bitsPerSecond }: { bitsPerSecond: number },
): Promise<number> {
  const file = folder.file('content');
  writeFileSync(file, content);
  const proxy = await FaultProxy.to(server.url, { line: { roundTripMs: 20, bitsPerSecond } });
  const url = proxy.url;
  try {
    const dial = () => dialWebSocket(url);
    await using environment = await RemoteEnvironment.connect({ id: 'far', dial, resume: false });
    const process = await environment.start({ argv: ['cat', file] });
    const hash = createHash('sha256');
    for await (const event of process.events()) if (event.type === 'output') hash.update(event.bytes);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
    return proxy.bytesToServer + proxy.bytesToClients;
  } finally {
    await proxy.close();
  }
}

test('text takes far fewer bytes on a slow line', async () => {
  const content = logLines(6 * MEBIBYTE);
  // What is sent before the line is known to be slow travels as it is: one window.
  expect(await bytesOnTheLine(content, { bitsPerSecond: 10_000_000 })).toBeLessThan(content.length * 0.6);
});

test('what does not get shorter travels as it is', async () => {
  const content = randomBytes(2 * MEBIBYTE);
  const bytes = await bytesOnTheLine(content, { bitsPerSecond: 10_000_000 });
  expect(bytes).toBeGreaterThan(content.length);
  expect(bytes).toBeLessThan(content.length * 1.01);
});

/** A connection of somebody who offers compression. */
async function offering(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: { threshold: 0 } });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

test('on one machine nobody compresses, unless told to', async () => {
  await using plain = await ServerProcess.start();
  const socket = await offering(plain.url);
  expect(socket.extensions).toBe('');
  socket.terminate();
  const agreed = await offering(server.url);
  expect(agreed.extensions).toContain('permessage-deflate');
  agreed.terminate();
});

test('what clients compress is understood, and never larger than what they may send', async () => {
  const socket = await offering(server.url);
  socket.send(JSON.stringify({ id: 1, method: 'initialize', params: { clientName: 'x'.repeat(10_000) } }));
  const [answer] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(answer.toString())).toMatchObject({ id: 1, result: { sessionId: expect.any(String) } });
  // A quarter of a mebibyte that would become a quarter of a gibibyte.
  const bomb = deflateRawSync(Buffer.alloc(256 * MEBIBYTE), { finishFlush: constants.Z_SYNC_FLUSH });
  const head = Buffer.alloc(14);
  head.set([0xc1, 0xff]);
  head.writeUIntBE(bomb.length - 4, 4, 6);
  const raw = Reflect.get(socket, '_socket') as NodeJS.WritableStream;
  raw.write(Buffer.concat([head, bomb.subarray(0, -4)]));
  const [code] = (await once(socket, 'close')) as [number];
  expect(code).toBe(1009);
  const next = await offering(server.url);
  next.terminate();
});
