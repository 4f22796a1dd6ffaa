import { expect, test } from 'vitest';
import { openInProcess } from '../harness/app-in-process.js';
import { type AppClient, base64 } from '../../testkit/app-client.mjs';

/** Runs this many rounds side by side: their requests are mixed on the wire as those of a busy client. */
const SIDE_BY_SIDE = 20;

async function rounds(count: number, round: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await round(next++);
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
}

/** Everything that arrived for these ids, in order of arrival. */
function arrivalOrder(client: AppClient, ids: readonly string[]): unknown[] {
  return client.wire.arrivals.flatMap((each) =>
    'id' in each && ids.includes(String(each.id)) ? [each] : [],
  );
}

test('1,000 times: exec, write, write, resize, terminate sent at once take effect in this order', async () => {
  await using app = openInProcess();
  const client = await app.client.initialize();
  await rounds(1000, async (index) => {
    const processId = `p${index}`;
    const ids = ['exec', 'one', 'two', 'resize', 'terminate'].map((step) => `${step}${index}`);
    const [exec = '', one = '', two = '', resize = '', terminate = ''] = ids;
    client.post(exec, 'command/exec', { command: ['cat'], processId, tty: true, disableTimeout: true });
    client.post(one, 'command/exec/write', { processId, deltaBase64: base64('one\n') });
    client.post(two, 'command/exec/write', { processId, deltaBase64: base64('two\n') });
    client.post(resize, 'command/exec/resize', { processId, size: { rows: 10, cols: 10 } });
    client.post(terminate, 'command/exec/terminate', { processId });
    const answer = await client.wire.answerTo(exec);
    // After a terminate everything else is refused: an answer without an error was not overtaken by it.
    expect(arrivalOrder(client, ids)).toEqual([
      ...[one, two, resize, terminate].map((id) => ({ id, result: {} })),
      { id: exec, result: { exitCode: 137, stdout: '', stderr: '' } },
    ]);
    expect(answer.error).toBeUndefined();
  });
}, 120_000);

test('writes and the end of stdin reach the program in the order they were sent', async () => {
  await using app = openInProcess();
  const client = await app.client.initialize();
  await rounds(200, async (index) => {
    const processHandle = `p${index}`;
    client.post(`s${index}`, 'process/spawn', {
      command: ['cat'],
      processHandle,
      cwd: '/',
      streamStdin: true,
    });
    const words = Array.from({ length: 10 }, (_, word) => `${index}.${word} `);
    for (const word of words) {
      client.post(`w${index}${word}`, 'process/writeStdin', { processHandle, deltaBase64: base64(word) });
    }
    client.post(`c${index}`, 'process/writeStdin', { processHandle, closeStdin: true });
    expect(await client.exited(processHandle)).toMatchObject({ exitCode: 0, stdout: words.join('') });
  });
}, 60_000);

test('a program that waits holds up nobody else', async () => {
  await using app = openInProcess();
  const client = await app.client.initialize();
  client.post('waiting', 'command/exec', { command: ['cat'], processId: 'w', streamStdin: true });
  for (let round = 0; round < 10; round += 1) {
    await client.call('command/exec', { command: ['true'] });
    await client.call('fs/getMetadata', { path: '/' });
  }
  expect(client.wire.arrivals.some((each) => 'id' in each && each.id === 'waiting')).toBe(false);
  await client.call('command/exec/write', { processId: 'w', closeStdin: true });
  expect(await client.wire.answerTo('waiting')).toMatchObject({ result: { exitCode: 0 } });
});
