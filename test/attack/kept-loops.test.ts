import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { dialWire, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { limitMs, tally, tries } from './tally.js';

const LOOPS = tries(5_000);
const LIMIT_MS = limitMs(120_000);
/** What one loop may leave behind: less than the smallest thing that could be forgotten. */
const LEFT_PER_LOOP = 400;

async function connect(url: string | undefined, capabilities: object = {}): Promise<WireClient> {
  const { client } = await dialWire(String(url));
  await client.handshake({ capabilities });
  return client;
}

/** Memory in use after everything that can go has gone. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

test(`${LOOPS} clients that come and go leave nothing behind`, { timeout: LIMIT_MS }, async () => {
  await using server = await serve();
  const owner = await connect(server.urls[0]);
  await owner.call('process/start', startParams('p', ['cat'], { lease: 60_000_000, pipeStdin: true }));
  const client = await connect(server.urls[0], { flowControl: true });
  const loop = async (times: number): Promise<void> => {
    for (let count = 0; count < times; count += 1) {
      await client.call('process/attach', { processId: 'p', mayPause: count % 2 === 0 });
      await client.call('process/detach', { processId: 'p' });
      client.arrivals.length = 0;
    }
  };
  await owner.call('process/detach', { processId: 'p' });
  await loop(200);
  const before = { timers: timers(), bytes: usedBytes() };
  await loop(LOOPS);
  const left = { timers: timers() - before.timers, bytes: (usedBytes() - before.bytes) / LOOPS };
  const isLeaky = left.timers > 5 || left.bytes > LEFT_PER_LOOP;
  tally('clients that come and go', { tries: LOOPS, successes: Number(isLeaky) });
  expect(left.timers).toBeLessThan(5);
  expect(left.bytes).toBeLessThan(LEFT_PER_LOOP);
  const { processes } = await owner.call('process/list', { scope: 'server' });
  expect(processes).toMatchObject([{ processId: 'p', attached: 0, exited: false }]);
});
