import { expect, test } from 'vitest';
import { ExecClient, type RemoteProcess, startProcess } from '../../src/client/index.js';
import { attachProcess } from '../../src/client/process/attach-process.js';
import { ExecError } from '../../src/protocol/index.js';
import { story } from '../harness/events.js';
import { NO_ANSWER, ScriptedServer, snapshot } from '../harness/scripted-server.js';

const ENVIRONMENT = { shell: { name: 'sh', path: '/bin/sh' }, cwd: 'file:///srv' };

async function open(server: ScriptedServer): Promise<ExecClient> {
  return await ExecClient.connect({ dial: server.dial, resume: true });
}

async function start(client: ExecClient): Promise<RemoteProcess> {
  return await startProcess(client, { argv: ['x'], processId: 'p' });
}

test('unanswered writes are repeated under their ids, in order, before later ones', async () => {
  const server = new ScriptedServer({ 'process/read': () => snapshot({ nextSeq: 1 }) });
  await using client = await open(server);
  const process = await startProcess(client, { argv: ['x'], processId: 'p', pipeStdin: true });
  server.on('process/write', () => NO_ANSWER);
  const first = process.write('one ');
  const second = process.write('two ');
  await server.hears('process/write');
  server.on('process/write', () => ({ status: 'accepted' }));
  server.cut();
  const third = process.write('three');
  expect(await Promise.all([first, second, third])).toEqual(['accepted', 'accepted', 'accepted']);
  const writes = server.sentTo('process/write').map(({ writeId, chunk }) => {
    return [writeId, Buffer.from(String(chunk), 'base64').toString()];
  });
  expect(writes).toEqual([
    ['1', 'one '],
    ['1', 'one '],
    ['2', 'two three'],
  ]);
});

test.each([
  ['is repeated when the server does not know the process', false, 2],
  ['counts as done when the server knows the process', true, 1],
])('a start whose answer got lost %s', async (_, known, starts) => {
  const server = new ScriptedServer({
    'process/start': () => NO_ANSWER,
    'process/read': () => {
      if (!known) throw new ExecError('processNotFound', 'unknown process id');
      return snapshot({ chunks: [{ seq: 1, text: 'hi' }], nextSeq: 4, exitCode: 0, closed: true });
    },
  });
  await using client = await open(server);
  const starting = start(client);
  await server.hears('process/start');
  server.on('process/start', ({ processId }) => {
    server.output('p', 1, 'hi');
    server.exited('p', 2);
    server.closed('p', 3);
    return { processId };
  });
  server.cut();
  expect(await story(await starting)).toEqual(['1:hi', '2 exited 0', '3 closed']);
  expect(server.sentTo('process/start')).toHaveLength(starts);
});

test('reads are repeated; a signal, which might be sent twice, fails instead', async () => {
  const server = new ScriptedServer({
    'process/read': () => snapshot({ nextSeq: 1 }),
    'process/signal': () => NO_ANSWER,
    'environment/status': () => NO_ANSWER,
  });
  await using client = await open(server);
  const process = await start(client);
  const status = client.call('environment/status', null);
  const signal = process.signal('SIGINT');
  await Promise.all([server.hears('process/signal'), server.hears('environment/status')]);
  server.on('environment/status', () => ({ status: 'ready' }));
  server.cut();
  await expect(signal).rejects.toMatchObject({ code: 'connectionClosed' });
  await expect(status).resolves.toEqual({ status: 'ready' });
});

test('what a second handle on a kept process types is not taken for what the first one typed', async () => {
  const server = new ScriptedServer({
    initialize: () => ({ sessionId: 's', environmentInfo: ENVIRONMENT, capabilities: { leases: true } }),
    'process/attach': ({ processId }) => ({ processId, tty: false, lease: 'kept', afterSeq: 0, nextSeq: 1 }),
    'process/detach': () => ({}),
    'process/write': () => ({ status: 'accepted' }),
  });
  await using client = await open(server);
  for (const text of ['one', 'two']) {
    const handle = await attachProcess(client, 'p', {});
    await handle.write(text);
    await handle.detach();
  }
  const ids = server.sentTo('process/write').map(({ writeId }) => writeId);
  expect(new Set(ids).size).toBe(2);
});
