import { expect, test } from 'vitest';
import { ServerInput } from '../../src/contract/index.js';
import type { AppClient } from '../../testkit/app-client.mjs';
import { openInProcess } from '../harness/app-in-process.js';

const KiB = 1024;
const MiB = 1024 * KiB;
/** What goes into a pipe is no longer in the queue; as much may always be queued. */
const PIPE = 64 * KiB;
const ALWAYS = 64 * KiB;
/** What a connection may queue when the server has no room. */
const LAST = MiB;
/** Answered before it is read. */
const PIECE = 640 * KiB;

async function startDeaf(client: AppClient, processHandle: string): Promise<void> {
  const command = ['sleep', '600'];
  await client.call('process/spawn', {
    command,
    processHandle,
    cwd: '/',
    streamStdin: true,
    timeoutMs: null,
  });
}

async function write(client: AppClient, processHandle: string, bytes: number): Promise<boolean> {
  const deltaBase64 = Buffer.alloc(bytes).toString('base64');
  const { error } = await client.ask('process/writeStdin', { processHandle, deltaBase64 });
  if (error) expect(error).toMatchObject({ code: -32001, data: { code: 'stdinFull' } });
  return !error;
}

test('all connections of an app server together queue no more than it may hold', async () => {
  await using app = openInProcess({ input: new ServerInput(4 * MiB) });
  let taken = 0;
  const connections = 3;
  const perConnection = 8;
  for (let number = 0; number < connections; number += 1) {
    const { client } = number === 0 ? app : app.connect();
    await client.initialize();
    let ofThis = 0;
    for (let run = 0; run < perConnection; run += 1) {
      await startDeaf(client, `deaf-${run}`);
      if (await write(client, `deaf-${run}`, PIECE)) ofThis += PIECE;
      // As much as a pipe holds is always taken.
      else expect(await write(client, `deaf-${run}`, ALWAYS)).toBe(true);
    }
    // Nobody is left with nothing.
    expect(ofThis).toBeGreaterThan(0);
    taken += ofThis;
  }
  const runs = connections * perConnection;
  expect(taken).toBeGreaterThan(4 * MiB - PIECE);
  expect(taken).toBeLessThanOrEqual(4 * MiB + connections * LAST + runs * (ALWAYS + PIPE));
  expect(taken).toBeLessThan(runs * PIECE);
});

test('there is room again once programs have ended', async () => {
  await using app = openInProcess({ input: new ServerInput(MiB) });
  const client = await app.client.initialize();
  const handles = ['a', 'b', 'c', 'd', 'e'];
  const taken: boolean[] = [];
  for (const handle of handles) {
    await startDeaf(client, handle);
    taken.push(await write(client, handle, PIECE));
  }
  expect(taken).toContain(false);
  for (const handle of handles.slice(0, -1)) {
    await client.call('process/kill', { processHandle: handle });
    await client.exited(handle);
  }
  expect(await write(client, 'e', PIECE)).toBe(true);
});
