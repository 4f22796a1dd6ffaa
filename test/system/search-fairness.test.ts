import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, type WireClient } from '../../testkit/wire-client.mjs';

/** What another client may have to wait beside what a busy machine makes it wait anyway, nine times out of ten. */
const PATIENCE_MS = 50;
const IDLE_REQUESTS = 200;

async function connect(server: ServerProcess): Promise<WireClient> {
  const { client } = await dialWire(server.url);
  await client.handshake();
  return client;
}

/** How long another client waits for answers while a request is worked on, sorted. */
async function waitsDuring(other: WireClient, request: Promise<unknown>): Promise<number[]> {
  const finished = request.then(() => 'finished');
  const waits: number[] = [];
  for (let last = ''; last !== 'finished'; ) {
    const start = performance.now();
    await other.call('environment/status');
    waits.push(performance.now() - start);
    last = await Promise.race([finished, Promise.resolve('not yet')]);
  }
  return waits.sort((a, b) => a - b);
}

function most(waits: readonly number[]): number {
  return waits[Math.floor(waits.length * 0.9)] ?? 0;
}

/** Fails when the request makes another client wait. */
async function expectFairness(
  server: ServerProcess,
  ask: (client: WireClient) => Promise<unknown>,
): Promise<void> {
  const [client, other] = [await connect(server), await connect(server)];
  const idle: number[] = [];
  while (idle.length < IDLE_REQUESTS) idle.push(...(await waitsDuring(other, Promise.resolve())));
  const usual = most(idle.sort((a, b) => a - b));
  expect(most(await waitsDuring(other, ask(client)))).toBeLessThan(PATIENCE_MS + 3 * usual);
}

describe('a search without ripgrep', () => {
  const folder = new TestFolder();
  const path = pathToFileURL(folder.path).href;
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start({ env: { PATH: '/nonexistent' }, args: ['--log-level', 'silent'] });
  });
  afterAll(async () => {
    await server.stop();
    folder[Symbol.dispose]();
  });

  test('holds nobody up with globs that could fit in many ways', async () => {
    const directory = folder.file('names');
    mkdirSync(directory);
    for (let index = 0; index < 300; index += 1)
      writeFileSync(`${directory}/${'a'.repeat(200)}${index}`, 'x');
    const globs = [`${'*a'.repeat(40)}b`, `${'{a,aa,*}'.repeat(20)}b`, `${'**/*a*'.repeat(10)}b`];
    await expectFairness(server, async (client) => {
      const found = await client.call('fs/search', { path: `${path}/names`, pattern: 'x', globs });
      expect(found).toEqual({ matches: [], cursor: null });
    });
  });

  test('holds nobody up with an expression that takes its time', async () => {
    // Each line takes some milliseconds, so that none of them alone is too slow.
    const line = `${'a'.repeat(1500)}b\n`;
    writeFileSync(folder.file('slow'), line.repeat(200));
    await expectFairness(server, async (client) => {
      const query = { path: `${path}/slow`, pattern: 'a*c', regex: true };
      expect(await client.call('fs/search', query)).toEqual({ matches: [], cursor: null });
    });
  });

  test('holds nobody up with a file of many lines', async () => {
    writeFileSync(folder.file('lines'), Buffer.alloc(60 * 1024 * 1024, '\n'));
    await expectFairness(server, async (client) => {
      const found = await client.call('fs/search', { path: `${path}/lines`, pattern: 'needle' });
      expect(found).toEqual({ matches: [], cursor: null });
    });
  });
});
