import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ServerCapture } from '../../src/app/captured-room.js';
import { openInProcess } from '../harness/app-in-process.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const COMMAND = ['seq', '1', '100000'];
const OUTPUT = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('');

const used = ({ memory, disk }: ServerCapture) => [memory.used, disk.used];

test('output that does not fit into memory is answered from disk, whole', async () => {
  const capture = new ServerCapture({ memory: 64 * KiB, disk: 16 * MiB });
  await using app = openInProcess({ capture });
  const client = await app.client.initialize();
  const answers = Array.from({ length: 12 }, () => client.call('command/exec', { command: COMMAND }));
  for (const answer of answers) expect(await answer).toEqual({ exitCode: 0, stdout: OUTPUT, stderr: '' });
  expect(used(capture)).toEqual([0, 0]);
});

test('a process that is not streamed announces all of its output from disk', async () => {
  const capture = new ServerCapture({ memory: 0, disk: 16 * MiB });
  await using app = openInProcess({ capture });
  const client = await app.client.initialize();
  await client.call('process/spawn', { command: COMMAND, processHandle: 'p', cwd: '/' });
  expect(await client.exited('p')).toMatchObject({ exitCode: 0, stdout: OUTPUT, stdoutCapReached: false });
  expect(used(capture)).toEqual([0, 0]);
});

test('output that fits nowhere is an error, and small output is still answered', async () => {
  const capture = new ServerCapture({ memory: 0, disk: 0 });
  await using app = openInProcess({ capture });
  const client = await app.client.initialize();
  const { error } = await client.ask('command/exec', { command: COMMAND });
  expect(error).toMatchObject({ data: { code: 'outputTooLarge' } });
  expect(await client.call('command/exec', { command: ['echo', 'small'] })).toMatchObject({
    stdout: 'small\n',
  });
  expect(used(capture)).toEqual([0, 0]);
});

test('a client that reads late gets every answer, and one that leaves frees everything', async () => {
  const capture = new ServerCapture({ memory: MiB, disk: 64 * MiB });
  await using app = openInProcess({ capture });
  const client = await app.client.initialize();
  app.fromServer.pause();
  const ids = Array.from({ length: 40 }, (_, index) => `run${index}`);
  for (const id of ids) client.post(id, 'command/exec', { command: COMMAND, timeoutMs: 60_000 });
  // Far more than is produced for somebody who does not read.
  while (capture.disk.used < 10 * MiB) await nextTurn();
  app.fromServer.resume();
  for (const id of ids)
    expect(await client.wire.answerTo(id)).toMatchObject({ result: { exitCode: 0, stdout: OUTPUT } });
  expect(used(capture)).toEqual([0, 0]);
  app.fromServer.pause();
  for (const id of ids) client.post(`${id}again`, 'command/exec', { command: COMMAND, timeoutMs: 60_000 });
  while (capture.disk.used < 10 * MiB) await nextTurn();
  await app.server.close();
  expect(used(capture)).toEqual([0, 0]);
});
