import { expect, test } from 'vitest';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { TestFolder } from '../harness/processes.js';

test('a process that is no longer known is read from disk, by its session only', async () => {
  using folder = new TestFolder();
  const args = ['--max-processes', '1', '--spool', folder.file('spool')];
  await using server = await ServerProcess.start({ args });
  const { client, socket } = await dialWire(server.url);
  await client.handshake();
  const run = async (processId: string, more: object): Promise<void> => {
    await client.call('process/start', {
      ...startParams(processId, sh(`echo ${processId}; exit 3`)),
      ...more,
    });
    await client.closedEvents(processId);
  };
  await run('kept', { retain: 'disk' });
  await run('passing', { onSlowReader: 'spool' });
  // Starting it makes the server forget the one before.
  await run('last', {});
  expect(await client.call('process/read', { processId: 'kept' })).toMatchObject({
    chunks: [{ seq: 1, stream: 'stdout', chunk: Buffer.from('kept\n').toString('base64') }],
    nextSeq: 4,
    exited: true,
    exitCode: 3,
    closed: true,
    failure: null,
    signal: null,
    timedOut: false,
  });
  const unknown = await client.refusal('process/read', { processId: 'passing' });
  expect(unknown).toBe(-32600);
  const other = await dialWire(server.url);
  await other.client.handshake();
  expect(await other.client.refusal('process/read', { processId: 'kept' })).toBe(-32600);
  other.socket.terminate();
  socket.terminate();
});

test('a server without a spool refuses a start that wants one, and runs nothing', async () => {
  await using server = await ServerProcess.start({ args: ['--spool', 'off'] });
  const { client, socket } = await dialWire(server.url);
  await client.handshake();
  const start = { ...startParams('p', sh('true')), retain: 'disk' };
  expect(await client.refusal('process/start', start)).toBe(-32600);
  expect(await client.call('process/list', null)).toEqual({ processes: [] });
  socket.terminate();
});
