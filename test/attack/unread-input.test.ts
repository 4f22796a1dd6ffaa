import { expect, test } from 'vitest';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { serve } from '../harness/serve.js';
import { tally, tries } from './tally.js';

const MiB = 1024 * 1024;
/** As much as one process may have in line. */
const LARGEST = 15 * MiB;
/** What a session may hold beyond the share of each process, and that share. */
const SESSION_BYTES = 32 * MiB;
const SHARE_BYTES = 2 * MiB;

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
