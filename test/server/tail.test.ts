import { expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

const LINES = 40_000;
const PADDING = 'x'.repeat(100);

async function connect(url: string | undefined): Promise<WireClient> {
  const { client } = await dialWire(String(url));
  await client.handshake();
  return client;
}

/** A process that has printed four times what memory holds. */
async function printed(client: WireClient, more: object): Promise<void> {
  const program = sh(`i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo $i ${PADDING}; done`);
  await client.call('process/start', startParams('p', program, { lease: 'kept', ...more }));
  await client.call('process/detach', { processId: 'p' });
  await client.call('process/wait', { processId: 'p' });
}

/** The numbers of the lines that arrive, without the first one: it may be cut. */
async function arrivingLines(client: WireClient, tail: object): Promise<number[]> {
  await client.call('process/attach', { processId: 'p', keyboard: 'view', tail });
  await client.closedEvents('p');
  const lines = client.output('p').toString().trimEnd().split('\n').slice(1);
  return lines.map((line) => Number(line.split(' ')[0]));
}

test('the last lines and bytes reach back to the disk', async () => {
  using folder = new TestFolder();
  await using server = await serve({ spool: { directory: folder.file('spool') } });
  const [url] = server.urls;
  await printed(await connect(url), { retain: 'disk' });
  const chunkLines = Math.ceil((64 * 1024) / PADDING.length);
  for (const tail of [{ lines: 30_000 }, { bytes: 30_000 * (PADDING.length + 7) }]) {
    const numbers = await arrivingLines(await connect(url), tail);
    const first = numbers[0] ?? expect.fail('nothing arrived');
    expect(Math.abs(first - 10_000)).toBeLessThan(chunkLines);
    expect(numbers).toEqual(Array.from({ length: LINES - first + 1 }, (_, index) => first + index));
  }
  const few = await arrivingLines(await connect(url), { lines: 10 });
  expect(few.at(-1)).toBe(LINES);
  expect(few.length).toBeLessThan(chunkLines);
  const all = await arrivingLines(await connect(url), { lines: 10 * LINES });
  expect(all.length).toBe(LINES - 1);
});

test('without a disk, they reach as far as memory does', async () => {
  await using server = await serve();
  const [url] = server.urls;
  await printed(await connect(url), {});
  const numbers = await arrivingLines(await connect(url), { lines: 30_000 });
  expect(numbers.at(-1)).toBe(LINES);
  expect(numbers.length).toBeGreaterThan(5000);
  expect(numbers.length).toBeLessThan(15_000);
});
