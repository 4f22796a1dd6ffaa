import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bin } from '../../testkit/launch.mjs';
import { dialWire } from '../../testkit/wire-client.mjs';
import { DurableServer } from '../harness/durable-server.js';
import { runUpgrade } from '../harness/upgrade.js';

const SLOW = { timeout: 120_000 };
/** Takes longer than an upgrade. */
const FILE_BYTES = 96 * 1024 * 1024;

test.each(['to', 'from'])('a copy %s a server that is replaced meanwhile is whole', SLOW, async (way) => {
  await using server = await DurableServer.start();
  const [original, copy] = [server.folder.file('original'), server.folder.file('copy')];
  writeFileSync(original, randomBytes(FILE_BYTES));
  const there = (path: string): string => `${server.url}:${path}`;
  const places = way === 'to' ? [original, there(copy)] : [there(original), copy];
  const copying = spawn(process.execPath, [bin, 'cp', ...places], { stdio: 'ignore' });
  const copied = once(copying, 'exit') as Promise<[number]>;
  let upgrades = 0;
  do {
    expect(await runUpgrade(server.url)).toMatchObject({ code: 0 });
    upgrades += 1;
  } while (copying.exitCode === null && upgrades < 20);
  expect(await copied).toEqual([0, null]);
  expect(readFileSync(copy).equals(readFileSync(original))).toBe(true);
});

test('of two upgrades at once, one is refused, and the other happens', SLOW, async () => {
  await using server = await DurableServer.start();
  const clients = await Promise.all(
    [1, 2].map(async () => {
      const { client } = await dialWire(server.url);
      await client.handshake();
      return client;
    }),
  );
  const answers = await Promise.all(clients.map((client) => client.ask('server/upgrade', {})));
  expect(answers.map(({ result, error }) => result ?? error?.data).sort(byText)).toEqual(
    [{ generation: 2 }, { code: 'upgradeRefused' }].sort(byText),
  );
  for (const client of clients)
    await expect.poll(() => client.call('server/status', {})).toMatchObject({ generation: 2 });
});

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
