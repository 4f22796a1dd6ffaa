import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { serve } from '../harness/serve.js';
import { limitMs, tally, tries } from './tally.js';

const MiB = 1024 * 1024;
/** As much as one process may have in line. */
const LARGEST = 15 * MiB;
/** What a session may hold beyond the share of each process, and that share. */
const SESSION_BYTES = 32 * MiB;
const SHARE_BYTES = 2 * MiB;
/** All shares together, and what each process may have beyond that. */
const ALL_SHARES_BYTES = 256 * MiB;
const ALWAYS_BYTES = MiB / 16;
/** Messages that have arrived and are not handled or collected yet. */
const PASSING_BYTES = 96 * MiB;
/** What is answered before it is read. */
const ORDINARY_BYTES = 640 * 1024;
const AT_A_TIME = 20;
/** A session may not have more. */
const MAX_PROCESSES = 4096;

test('input for many programs that do not read is bounded, and one that does read gets its own', async () => {
  const count = tries(6);
  await using server = await serve();
  const { client } = await dialWire(server.url);
  await client.handshake();
  const chunk = Buffer.alloc(LARGEST).toString('base64');
  const refused: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const processId = `deaf-${index}`;
    await client.call('process/start', startParams(processId, ['sleep', '600'], { pipeStdin: true }));
    const write = { processId, writeId: 'only', chunk };
    client.send(JSON.stringify({ id: processId, method: 'process/write', params: write }));
    // A write that was taken is not answered before it is read; one that was refused is answered by now.
    await client.call('process/list');
    const answer = client.arrivals.find((each) => 'id' in each && each.id === processId);
    if (answer && 'error' in answer) refused.push(answer.error?.data?.code ?? '');
  }
  const taken = (count - refused.length) * LARGEST;
  tally('input for programs that do not read', {
    tries: count,
    successes: taken > SESSION_BYTES + count * SHARE_BYTES ? 1 : 0,
  });
  expect(taken).toBeLessThanOrEqual(SESSION_BYTES + count * SHARE_BYTES);
  expect(new Set(refused)).toEqual(new Set(['stdinFull']));
  await client.call('process/start', startParams('reader', ['wc', '-c'], { pipeStdin: true }));
  const piece = Buffer.alloc(MiB).toString('base64');
  for (const writeId of ['1', '2', '3'])
    expect(await client.call('process/write', { processId: 'reader', writeId, chunk: piece })).toEqual({
      status: 'accepted',
    });
  await client.call('process/closeStdin', { processId: 'reader' });
  await client.closedEvents('reader');
  expect(Number(client.output('reader').toString())).toBe(3 * MiB);
  client.close();
});

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** A few at a time, so that what is on its way counts for little. */
async function forAll<Item, Result>(items: readonly Item[], work: (item: Item) => Promise<Result>) {
  const results: Result[] = [];
  for (let done = 0; done < items.length; done += AT_A_TIME)
    results.push(...(await Promise.all(items.slice(done, done + AT_A_TIME).map(work))));
  return results;
}

test('however many programs do not read, what a session holds for them is bounded', {
  timeout: limitMs(120_000),
}, async () => {
  const count = Math.min(tries(500), MAX_PROCESSES);
  await using server = await ServerProcess.start();
  const { client } = await dialWire(server.url);
  await client.handshake();
  const ids = Array.from({ length: count }, (_, index) => `deaf-${index}`);
  await forAll(ids, (processId) =>
    client.call('process/start', startParams(processId, ['sleep', '600'], { pipeStdin: true })),
  );
  const before = residentBytes(server.pid);
  const write = (processId: string, bytes: number) =>
    client.ask('process/write', {
      processId,
      writeId: `of ${bytes}`,
      chunk: Buffer.alloc(bytes).toString('base64'),
    });
  const answers = await forAll(ids, (processId) => write(processId, ORDINARY_BYTES));
  const refused = answers.filter(({ error }) => error);
  const taken = (count - refused.length) * ORDINARY_BYTES;
  const most = ALL_SHARES_BYTES + count * ALWAYS_BYTES;
  const held = residentBytes(server.pid) - before;
  tally('input for very many programs that do not read', {
    tries: count,
    successes: taken > most || held > most + PASSING_BYTES ? 1 : 0,
  });
  expect(taken).toBeLessThanOrEqual(most);
  expect(taken).toBeGreaterThan(Math.min(count * ORDINARY_BYTES, ALL_SHARES_BYTES) - ORDINARY_BYTES);
  expect(held).toBeLessThan(most + PASSING_BYTES);
  for (const { error } of refused) expect(error?.data?.code).toBe('stdinFull');
  // Those that were refused take as much as a pipe holds, as ever.
  const deaf = ids.filter((_, index) => answers[index]?.error);
  for (const { result } of await forAll(deaf, (processId) => write(processId, ALWAYS_BYTES)))
    expect(result).toEqual({ status: 'accepted' });
  expect(residentBytes(server.pid) - before).toBeLessThan(most + PASSING_BYTES);
  client.close();
});
