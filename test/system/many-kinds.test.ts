import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';

const MEBIBYTE = 1024 * 1024;
const BODY = Buffer.alloc(16 * MEBIBYTE, 'a body that is long enough to fill a line. ');

/** What was taken of bodies without an end. */
let taken = 0;
let web: Server;
let server: ServerProcess;

beforeAll(async () => {
  web = createServer((request, response) => {
    if (request.url === '/body') return response.end(BODY);
    const piece = Buffer.alloc(64 * 1024, 'x');
    const pour = (): void => {
      taken += piece.length;
      while (response.write(piece)) taken += piece.length;
    };
    response.on('drain', pour);
    return pour();
  });
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  server = await ServerProcess.start();
});

afterAll(async () => {
  await server.stop();
  web.closeAllConnections();
  web.close();
});

function at(path: string): string {
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}${path}`;
}

function residentBytes(): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1];
  return Number(kib) * 1024;
}

/** The value once two looks in a row see the same. */
async function settled(look: () => number): Promise<number> {
  for (let last = look(); ; last = look()) {
    await delay(300);
    if (look() === last) return last;
  }
}

test('a client that stops reading while everything flows costs a bounded amount', async () => {
  using folder = new TestFolder();
  writeFileSync(folder.file('large'), Buffer.alloc(2 * MEBIBYTE));
  const { client, socket } = await dialWire(server.url);
  await client.handshake({ capabilities: { flowControl: true } });
  // Acknowledged late, as from far away, so that windows are as large as they get.
  socket.on('message', (data: Buffer) => {
    const { method, params } = JSON.parse(data.toString()) as {
      method?: string;
      params?: { processId: string; seq: number };
    };
    client.arrivals.length = Math.min(client.arrivals.length, 10);
    if (method !== 'process/output') return;
    const { processId = '', seq = 0 } = params ?? {};
    setTimeout(() => {
      client.send(JSON.stringify({ method: 'process/ack', params: { processId, seq } }));
    }, 40);
  });
  for (const id of ['a', 'b', 'c', 'd'])
    await client.call('process/start', startParams(id, ['cat', '/dev/zero']));
  await delay(1000);
  await client.call('process/start', startParams('deaf', sh('sleep 1000'), { pipeStdin: true }));
  await client.call('fs/open', { handleId: 'h', path: `file://${folder.file('large')}` });
  const before = residentBytes();
  socket.pause();
  for (let n = 0; n < 64; n += 1) {
    const stream = { requestId: `s${n}`, method: 'GET', url: at('/endless'), streamResponse: true };
    client.send(JSON.stringify({ id: `http${n}`, method: 'http/request', params: stream }));
    const block = { handleId: 'h', offset: 0, len: MEBIBYTE };
    client.send(JSON.stringify({ id: `file${n}`, method: 'fs/readBlock', params: block }));
    const write = { processId: 'deaf', writeId: `w${n}`, chunk: Buffer.alloc(MEBIBYTE).toString('base64') };
    client.send(JSON.stringify({ id: `in${n}`, method: 'process/write', params: write }));
  }
  taken = 0;
  await expect.poll(() => taken).toBeGreaterThan(0);
  await settled(() => taken);
  // Output in flight, answers ahead, input in line, 64 connections to elsewhere, and garbage of 88 MiB of requests. What was asked for has no end.
  expect((residentBytes() - before) / MEBIBYTE).toBeLessThan(160);
  socket.terminate();
});

test('a streamed body fills a long line and arrives whole', async () => {
  const proxy = await FaultProxy.to(server.url, { line: { roundTripMs: 80 } });
  const { client, socket } = await dialWire(proxy.url);
  await client.handshake();
  const trips = proxy.roundTrips;
  const hash = createHash('sha256');
  const whole = new Promise<string>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const { method, params } = JSON.parse(data.toString()) as {
        method?: string;
        params?: { deltaBase64: string; done: boolean };
      };
      if (method !== 'http/request/bodyDelta' || !params) return;
      hash.update(Buffer.from(params.deltaBase64, 'base64'));
      if (params.done) resolve(hash.digest('hex'));
    });
  });
  const request = { requestId: 's', method: 'GET', url: at('/body'), streamResponse: true };
  await client.call('http/request', request);
  expect(await whole).toBe(createHash('sha256').update(BODY).digest('hex'));
  // The request alone: nothing of the body waits for the client to say something.
  expect(proxy.roundTrips - trips).toBeLessThanOrEqual(2);
  socket.terminate();
  await proxy.close();
});
