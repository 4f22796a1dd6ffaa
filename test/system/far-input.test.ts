import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { execwire } from '../../testkit/command-line.mjs';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { TestFolder } from '../harness/processes.js';
import { seededRandom } from '../harness/random.js';
import { ServerProcess } from '../../testkit/server-process.mjs';

const MEBIBYTE = 1024 * 1024;
const ROUND_TRIP_MS = 80;

let server: ServerProcess;
beforeAll(async () => {
  server = await ServerProcess.start();
});
afterAll(async () => {
  await server.stop();
});

/** No two parts of it are alike. */
function noise(bytes: number): Buffer {
  const random = seededRandom(7);
  const words = new Uint32Array(bytes / 4);
  for (let at = 0; at < words.length; at += 1) words[at] = random() * 2 ** 32;
  return Buffer.from(words.buffer);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) * 1024;
}

async function connect(url: string): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({ id: 'far', dial: () => dialWebSocket(url), resume: true });
}

/** A line to the server; both ends of it go when it is disposed of. */
async function line(options: { roundTripMs: number; bitsPerSecond?: number }) {
  const proxy = await FaultProxy.to(server.url, { line: options });
  const url = proxy.url;
  return { proxy, url, [Symbol.asyncDispose]: () => proxy.close() };
}

test('piped input fills a long line: far fewer round trips than pieces', async () => {
  await using far = await line({ roundTripMs: ROUND_TRIP_MS });
  const input = noise(32 * MEBIBYTE);
  const { code, stdout } = await execwire(['run', '-e', far.url, '--', 'sha256sum'], { input });
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${sha256(input)}  -\n` });
  // One write after the other would take 512 of them.
  expect(far.proxy.roundTrips).toBeLessThan(128);
});

test('a program that does not read costs a bounded amount, holds up nobody, and finds all of its input later', async () => {
  using folder = new TestFolder();
  const gate = folder.file('gate');
  execFileSync('mkfifo', [gate]);
  await using far = await line({ roundTripMs: 10 });
  await using environment = await connect(far.url);
  const before = residentBytes(server.pid);
  const deaf = await environment.start({
    argv: ['sh', '-c', `cat ${gate}; exec sha256sum`],
    pipeStdin: true,
  });
  const input = noise(48 * MEBIBYTE);
  const written = Promise.all(
    Array.from({ length: 48 }, (_, at) => deaf.write(input.subarray(at * MEBIBYTE, (at + 1) * MEBIBYTE))),
  );
  const other = await environment.start({ argv: ['sha256sum'], pipeStdin: true });
  const more = input.subarray(0, 16 * MEBIBYTE);
  await Promise.all([other.write(more), other.closeStdin()]);
  expect(await other.text()).toBe(`${sha256(more)}  -\n`);
  // What it has read itself, what waits for the deaf one, and what memory is not given back at once.
  expect(residentBytes(server.pid) - before).toBeLessThan(16 * MEBIBYTE + 48 * MEBIBYTE);
  expect(far.proxy.bytesToServer).toBeLessThan(more.length + 17 * MEBIBYTE);
  writeFileSync(gate, '');
  const closed = deaf.closeStdin();
  expect(new Set(await written)).toEqual(new Set(['accepted']));
  await closed;
  expect(await deaf.text()).toBe(`${sha256(input)}  -\n`);
});

test('a flood of input does not hold up what is small on the same connection', async () => {
  // 64 KiB take 13 ms, and a window of mebibytes would be a queue of seconds.
  await using far = await line({ roundTripMs: ROUND_TRIP_MS, bitsPerSecond: 40_000_000 });
  await using environment = await connect(far.url);
  const flooded = await environment.start({ argv: ['sha256sum'], pipeStdin: true });
  const input = noise(16 * MEBIBYTE);
  const flood = { over: false };
  const written = flooded.write(input).finally(() => {
    flood.over = true;
  });
  const echo = await environment.start({ argv: ['cat'], pipeStdin: true });
  const heard = echo.stdout.getReader();
  const took: number[] = [];
  while (!flood.over) {
    const begun = performance.now();
    await echo.write('x');
    await heard.read();
    took.push(performance.now() - begun);
  }
  await written;
  const median = took.sort((a, b) => a - b)[Math.floor(took.length / 2)];
  expect(took.length).toBeGreaterThan(5);
  expect(median).toBeLessThan(4 * ROUND_TRIP_MS);
  await flooded.closeStdin();
  expect(await flooded.text()).toBe(`${sha256(input)}  -\n`);
  await echo.terminate();
});

test('input is whole, in order and ends once, however often the line is cut', async () => {
  await using proxy = await FaultProxy.to(server.url);
  await using environment = await connect(proxy.url);
  const process = await environment.start({ argv: ['sha256sum'], pipeStdin: true });
  const input = noise(24 * MEBIBYTE);
  const random = seededRandom(3);
  const writes: Promise<unknown>[] = [];
  for (let at = 0; at < input.length; ) {
    const end = Math.min(input.length, at + 1 + Math.floor(random() * 300_000));
    const write = process.write(input.subarray(at, end));
    writes.push(write);
    at = end;
    if (writes.length % 8 === 0) await write;
    // Others are written and unanswered at this moment.
    if (writes.length % 24 === 5) proxy.cut();
  }
  const closed = process.closeStdin();
  proxy.cut();
  expect(new Set(await Promise.all(writes))).toEqual(new Set(['accepted']));
  await closed;
  expect(await process.text()).toBe(`${sha256(input)}  -\n`);
});
