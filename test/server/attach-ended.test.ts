import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { serve } from '../../src/server/index.js';
import { dialWire, sh, startParams, type WireClient } from '../../testkit/wire-client.mjs';
import { TestFolder } from '../harness/processes.js';

async function connect(url: string | undefined): Promise<WireClient> {
  const { client } = await dialWire(String(url));
  await client.handshake();
  return client;
}

/** What says how the process ended, in order. */
async function endOf(client: WireClient, processId: string): Promise<string[]> {
  const events = await client.closedEvents(processId);
  return events.filter(({ method }) => method !== 'process/output').map(({ method }) => method);
}

const END = ['process/exited', 'process/closed'];

/** Every way to say where to begin. */
const PLACES: readonly Record<string, unknown>[] = [
  {},
  { fromEnd: true },
  { afterSeq: 3 },
  { afterSeq: 1000 },
  { tail: { bytes: 0 } },
  { tail: { lines: 0 } },
  { tail: { lines: 1 } },
  { screen: true },
  { screen: true, keyboard: 'view' },
];

for (const tty of [false, true])
  test(`whoever attaches to an ended process is told its end, ${tty ? 'with' : 'without'} a terminal`, async () => {
    await using server = await serve();
    const [url] = server.urls;
    const client = await connect(url);
    await client.call('process/start', startParams('p', sh('echo hello; exit 3'), { lease: 'kept', tty }));
    await client.call('process/wait', { processId: 'p' });
    for (const place of PLACES) {
      const late = await connect(url);
      await late.call('process/attach', { processId: 'p', ...place });
      expect([place, await endOf(late, 'p')]).toEqual([place, END]);
      expect(late.events('p').find(({ method }) => method === 'process/exited')?.params).toMatchObject({
        exitCode: 3,
      });
    }
    // The one that was there all the time is told again.
    const before = client.events('p').length;
    await client.call('process/attach', { processId: 'p', fromEnd: true });
    await client.until(() => client.events('p').length === before + END.length || undefined);
  });

test('whoever attaches between the exit and the last output is told both', async () => {
  using folder = new TestFolder();
  const gates = [folder.file('first'), folder.file('second')] as const;
  await using server = await serve();
  const [url] = server.urls;
  const client = await connect(url);
  const script = sh(`mkfifo ${gates.join(' ')}; cat ${gates.join(' ')} & exit 3`);
  await client.call('process/start', startParams('p', script, { lease: 'kept' }));
  const exited = (each: WireClient) =>
    each.until(() => each.events('p').some(({ method }) => method === 'process/exited') || undefined);
  await exited(client);
  await writeFile(gates[0], 'late output');
  await client.until(() => client.output('p').includes('late output') || undefined);
  const late = await connect(url);
  await late.call('process/attach', { processId: 'p', fromEnd: true });
  await exited(late);
  await writeFile(gates[1], ', the last');
  expect(await endOf(late, 'p')).toEqual(END);
  expect(late.output('p').toString()).toContain(', the last');
});

test('the library resolves for processes that have ended', async () => {
  await using server = await serve();
  const client = await connect(server.urls[0]);
  await client.call('process/start', startParams('p', sh('echo hello; exit 3'), { lease: 'kept' }));
  await client.call('process/wait', { processId: 'p' });
  await using environment = await RemoteEnvironment.connect({
    id: 'ended',
    dial: () => dialWebSocket(String(server.urls[0])),
    resume: true,
  });
  const ended = { kind: 'exited', exitCode: 3 };
  for (const options of [{ fromEnd: true }, { afterSeq: 1000 }, { screen: true }, { tail: { lines: 0 } }]) {
    const process = await environment.attach('p', options);
    expect([options, await process.wait()]).toMatchObject([options, ended]);
    await process.detach();
  }
  expect(await environment.waitFor('p')).toMatchObject(ended);
  const { child } = await environment.attachLate('p');
  expect(await child.wait()).toMatchObject(ended);
});

test('a viewer with a screen that is far behind is told how the program ended', async () => {
  await using server = await serve();
  const client = await connect(server.urls[0]);
  const viewer = await dialWire(String(server.urls[0]));
  await viewer.client.handshake({ capabilities: { flowControl: true } });
  const script = sh('read line; head -c 4000000 /dev/zero | tr "\\0" x; exit 3');
  await client.call('process/start', startParams('p', script, { lease: 'kept', tty: true }));
  await viewer.client.call('process/attach', { processId: 'p', screen: true, keyboard: 'view' });
  const chunk = Buffer.from('go\n').toString('base64');
  await client.call('process/write', { processId: 'p', writeId: 'go', chunk });
  await client.call('process/wait', { processId: 'p' });
  // It acknowledges only now, when it has missed more than it may.
  const seq = Number(viewer.client.events('p').at(-1)?.params.seq);
  viewer.client.send(JSON.stringify({ method: 'process/ack', params: { processId: 'p', seq } }));
  expect(await endOf(viewer.client, 'p')).toEqual(END);
});
