import { expect, test } from 'vitest';
import { ExecClient, type RemoteProcess, startProcess } from '../../src/client/index.js';
import { ExecError } from '../../src/protocol/index.js';
import { NO_ANSWER, ScriptedServer } from '../harness/scripted-server.js';

const KIBIBYTE = 1024;

/** A server that takes several writes at a time, up to this many bytes. */
function pipelining(windowBytes = 1024 * KIBIBYTE): ScriptedServer {
  return new ScriptedServer({
    initialize: ({ resumeSessionId }) => ({
      sessionId: resumeSessionId ?? 'session-1',
      environmentInfo: { shell: { name: 'sh', path: '/bin/sh' }, cwd: 'file:///srv' },
      capabilities: { stdinWindow: { windowBytes }, processCloseStdin: true, processSignals: true },
    }),
    'process/closeStdin': () => ({}),
  });
}

async function start(client: ExecClient): Promise<RemoteProcess> {
  return await startProcess(client, { argv: ['x'], processId: 'p', pipeStdin: true });
}

function writes(server: ScriptedServer): [unknown, unknown, string][] {
  return server
    .sentTo('process/write')
    .map(({ writeId, after, chunk }) => [writeId, after, Buffer.from(String(chunk), 'base64').toString()]);
}

test('writes leave without waiting, each behind the one before, and the end behind them all', async () => {
  const server = pipelining();
  await using client = await ExecClient.connect({ dial: server.dial, resume: true });
  const process = await start(client);
  server.on('process/write', () => NO_ANSWER);
  for (const text of ['a', 'b', 'c']) process.write(text).catch(() => undefined);
  await process.closeStdin();
  expect(writes(server)).toEqual([
    ['1', undefined, 'a'],
    ['2', '1', 'b'],
    ['3', '2', 'c'],
  ]);
  expect(server.sentTo('process/closeStdin')).toEqual([{ processId: 'p', after: '3' }]);
});

test('what is refused is sent again, one by one and in order, when the rest is answered', async () => {
  const server = pipelining();
  await using client = await ExecClient.connect({ dial: server.dial, resume: true });
  const process = await start(client);
  let room = (): void => undefined;
  const taken = new Promise<void>((resolve) => {
    room = resolve;
  });
  const known = new Set<unknown>();
  let refusals = 0;
  server.on('process/write', async ({ writeId, after }) => {
    if (known.size > 0 && refusals < 2) {
      refusals += 1;
      throw new ExecError('stdinFull', 'full');
    }
    if (after !== undefined && !known.has(after)) throw new ExecError('stdinFull', 'a hole');
    known.add(writeId);
    await taken;
    return { status: 'accepted' };
  });
  const answers = ['a', 'b', 'c'].map((text) => process.write(text));
  await expect.poll(() => refusals).toBe(2);
  expect(writes(server)).toHaveLength(3);
  room();
  expect(await Promise.all(answers)).toEqual(['accepted', 'accepted', 'accepted']);
  expect(writes(server).slice(3)).toEqual([
    ['2', '1', 'b'],
    ['3', '2', 'c'],
  ]);
});

test('no more is on its way than the server takes, not even in front of a signal', async () => {
  const windowBytes = 256 * KIBIBYTE;
  const server = pipelining(windowBytes);
  await using client = await ExecClient.connect({ dial: server.dial, resume: true });
  const process = await start(client);
  server.on('process/write', () => NO_ANSWER);
  process.write(new Uint8Array(4 * windowBytes)).catch(() => undefined);
  await process.signal('SIGINT');
  const sent = writes(server).reduce((sum, [, , text]) => sum + text.length, 0);
  expect(sent).toBe(windowBytes);
});

test('a long write ends where the input has ended', async () => {
  const server = pipelining();
  await using client = await ExecClient.connect({ dial: server.dial, resume: true });
  const process = await start(client);
  server.on('process/write', ({ writeId }) => ({ status: Number(writeId) < 3 ? 'accepted' : 'stdinClosed' }));
  expect(await process.write(new Uint8Array(2048 * KIBIBYTE))).toBe('stdinClosed');
  expect(writes(server).length).toBeLessThan(2048 / 64);
  expect(await process.write('more')).toBe('stdinClosed');
});
