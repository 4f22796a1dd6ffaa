import { mkdirSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { computedUntil } from '../harness/processor-time.js';
import { withoutRipgrep } from '../harness/without-ripgrep.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, type WireClient } from '../../testkit/wire-client.mjs';

/**
 * What the server may compute before it has an answer for another client, nine times out of ten. Its own time on the
 * processor, not ours on the clock: how busy the rest of the machine is makes no difference.
 */
const PATIENCE_MS = 50;

async function connect(server: ServerProcess): Promise<WireClient> {
  const { client } = await dialWire(server.url);
  await client.handshake();
  return client;
}

/** Fails when the request makes another client wait. */
async function expectFairness(
  server: ServerProcess,
  ask: (client: WireClient) => Promise<unknown>,
): Promise<void> {
  const [client, other] = [await connect(server), await connect(server)];
  const finished = ask(client).then(() => 'finished');
  const waits: number[] = [];
  for (let last = ''; last !== 'finished'; ) {
    waits.push(await computedUntil(server.pid, () => other.call('environment/status')));
    last = await Promise.race([finished, Promise.resolve('not yet')]);
  }
  waits.sort((a, b) => a - b);
  expect(waits[Math.floor(waits.length * 0.9)]).toBeLessThan(PATIENCE_MS);
}

describe('a search without ripgrep', () => {
  const folder = new TestFolder();
  const path = pathToFileURL(folder.path).href;
  let server: ServerProcess;
  beforeAll(async () => {
    server = await ServerProcess.start({ env: withoutRipgrep, args: ['--log-level', 'silent'] });
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
