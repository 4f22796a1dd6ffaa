import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { DurableServer } from '../harness/durable-server.js';
import { TestFolder } from '../harness/processes.js';
import { runUpgrade } from '../harness/upgrade.js';
import { limitMs, tally, tries } from './tally.js';

const UPGRADES = tries(2);
const LIMIT_MS = limitMs(90_000);
const PRINTERS = 10;
const TERMINALS = 4;
const TYPED = 6;
const NEWCOMER_MS = 20;

async function introduced(url: string): Promise<WireClient> {
  const { client } = await dialWire(url);
  await client.handshake();
  return client;
}

/** How many lines there are, and whether each of them is the number behind the one before. */
function linesOf(client: WireClient, processId: string): { count: number; inOrder: boolean } {
  const lines = client.output(processId).toString().trimEnd().split(/\r?\n/);
  return { count: lines.length, inOrder: lines.every((line, index) => line === String(index + 1)) };
}

/** Connects again and again. Resolves to how often that worked, and what went wrong. */
function newcomers(url: string, over: AbortSignal): Promise<{ greeted: number; refused: string[] }> {
  return (async () => {
    const seen = { greeted: 0, refused: [] as string[] };
    while (!over.aborted) {
      try {
        const client = await introduced(url);
        seen.greeted += 1;
        client.close();
      } catch (error) {
        seen.refused.push(String(error));
      }
      await new Promise((resolve) => setTimeout(resolve, NEWCOMER_MS));
    }
    return seen;
  })();
}

test(`${UPGRADES} upgrades under 20 busy programs go unnoticed`, { timeout: LIMIT_MS }, async () => {
  await using server = await DurableServer.start();
  using folder = new TestFolder();
  const client = await introduced(server.url);
  const print = sh(
    `i=0; until [ -e ${folder.file('stop')} ]; do i=$((i+1)); echo $i; [ $((i % 200)) = 0 ] && sleep 0.05; done; exit 42`,
  );
  const printers = Array.from({ length: PRINTERS + TERMINALS }, (_, index) => `printer${index}`);
  for (const [index, processId] of printers.entries())
    await client.call('process/start', startParams(processId, print, { tty: index >= PRINTERS }));
  const typed = Array.from({ length: TYPED }, (_, index) => `cat${index}`);
  for (const processId of typed)
    await client.call('process/start', startParams(processId, sh('cat; exit 43'), { pipeStdin: true }));
  const over = new AbortController();
  const comers = newcomers(server.url, over.signal);
  const typing = typed.map(async (processId) => {
    for (let line = 1; !over.signal.aborted; line += 1) {
      const chunk = Buffer.from(`${line}\n`).toString('base64');
      await client.call('process/write', { processId, chunk, writeId: String(line) });
    }
    await client.call('process/closeStdin', { processId });
  });
  for (let done = 0; done < UPGRADES; done += 1)
    expect(await runUpgrade(server.url)).toMatchObject({ code: 0, stderr: '' });
  over.abort();
  await Promise.all(typing);
  writeFileSync(folder.file('stop'), '');
  const { greeted, refused } = await comers;
  expect(refused).toEqual([]);
  expect(greeted).toBeGreaterThan(0);
  for (const processId of [...printers, ...typed]) {
    const events = await client.closedEvents(processId);
    expect(events.map(({ params }) => params.seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-2)?.params['exitCode']).toBe(processId.startsWith('cat') ? 43 : 42);
    expect(linesOf(client, processId)).toMatchObject({ inOrder: true });
  }
  // It was never disconnected.
  expect(client.closed).toBeUndefined();
  tally('upgrades under 20 programs', { tries: UPGRADES, successes: 0 });
  tally('clients that came meanwhile', { tries: greeted, successes: refused.length });
});
