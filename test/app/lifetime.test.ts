import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { OUTBOX_FULL_BYTES } from '../../src/rpc/outbox.js';
import { openInProcess } from '../harness/app-in-process.js';
import { StdioApp, WebSocketApp } from '../../testkit/app-server.mjs';
import { gone, pidsWithArgument, stubbornTree, TestFolder } from '../harness/processes.js';

const mark = (): string => `execwire-mark-${randomUUID()}`;

describe('when a connection ends', () => {
  test.each([
    ['a buffered command', 'command/exec', {}],
    ['a streamed command', 'command/exec', { processId: 'p', streamStdoutStderr: true }],
    ['a command on a terminal', 'command/exec', { processId: 'p', tty: true }],
    ['a process', 'process/spawn', { processHandle: 'p', cwd: '/' }],
  ])('%s dies with its whole tree', async (_, method, params) => {
    await using app = openInProcess();
    using folder = new TestFolder();
    const client = await app.client.initialize();
    const name = mark();
    const command = ['/bin/sh', '-c', stubbornTree(name, folder.file('ready')), name];
    const limits = method === 'command/exec' ? { disableTimeout: true } : { timeoutMs: null };
    client.post('run', method, { command, ...limits, ...params });
    await folder.appears('ready');
    app.hangUp();
    await gone(name);
  });

  test('what a finished command left behind dies too, and not before', async () => {
    await using app = openInProcess();
    const client = await app.client.initialize();
    const name = mark();
    const script = `sh -c 'sleep 1000; :' ${name} >/dev/null 2>&1 &`;
    await client.call('command/exec', { command: ['sh', '-c', script] });
    expect(pidsWithArgument(name).length).toBeGreaterThan(0);
    app.hangUp();
    await gone(name);
  });

  test('other connections are left alone, and have names of their own', async () => {
    await using app = openInProcess();
    await using other = app.connect();
    const client = await app.client.initialize();
    const second = await other.client.initialize();
    for (const each of [client, second]) {
      each.post('run', 'command/exec', { command: ['cat'], processId: 'same', streamStdin: true });
      await each.call('command/exec/write', { processId: 'same', deltaBase64: 'aGk=' });
    }
    app.hangUp();
    await client.wire.untilClosed();
    await second.call('command/exec/write', { processId: 'same', closeStdin: true });
    expect(await second.wire.answerTo('run')).toMatchObject({ result: { exitCode: 0, stdout: 'hi' } });
  });
});

describe('the built server', () => {
  test('on stdio speaks lines on stdout only and exits 0 at the end of input, children gone', async () => {
    await using app = new StdioApp();
    const client = await app.client.initialize();
    const name = mark();
    client.post('run', 'command/exec', { command: ['sh', '-c', 'sleep 1000; :', name] });
    expect(await client.call('command/exec', { command: ['echo', 'hi'] })).toMatchObject({ stdout: 'hi\n' });
    app.hangUp();
    expect(await app.exit).toEqual([0, null]);
    await gone(name);
  });

  test('on a port prints its URL on stdout and stderr, and exits 0 on SIGTERM, children gone', async () => {
    await using server = await WebSocketApp.start();
    await using app = await server.connect();
    const client = await app.client.initialize();
    const name = mark();
    using folder = new TestFolder();
    const script = `echo up > ${folder.file('up')}; sleep 1000; :`;
    client.post('run', 'command/exec', { command: ['sh', '-c', script, name], disableTimeout: true });
    await folder.appears('up');
    expect(server.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
    expect(server.stderr()).toContain(server.url);
    const exit = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
    await gone(name);
  });

  test('on a unix socket serves as on a port', async () => {
    using folder = new TestFolder();
    await using server = await WebSocketApp.start({ args: ['--listen', `unix://${folder.file('sock')}`] });
    await using app = await server.connect();
    const client = await app.client.initialize();
    expect(await client.call('command/exec', { command: ['echo', 'hi'] })).toMatchObject({ stdout: 'hi\n' });
  });

  test('refuses environments that are not configured, and runs nothing under `none`', async () => {
    const wrong = new StdioApp({ args: ['-e', 'nowhere'] });
    expect(await wrong.exit).toEqual([2, null]);
    await using app = new StdioApp({ args: ['--environment', 'none'] });
    const client = await app.client.initialize();
    expect((await client.refusal('command/exec', { command: ['true'] }))[0]).toBe(-32603);
    expect((await client.refusal('fs/readFile', { path: '/x' }))[0]).toBe(-32603);
  });

  test('confines commands that bring no policy to reading, unless told otherwise', async () => {
    using folder = new TestFolder();
    await using app = new StdioApp({ args: ['--default-sandbox', 'read-only'] });
    const client = await app.client.initialize();
    const command = ['sh', '-c', `echo x > ${folder.file('f')}`];
    expect(await client.call('command/exec', { command })).toMatchObject({
      exitCode: expect.any(Number),
      stderr: expect.stringMatching(/Read-only file system/),
    });
    const full = { command, sandboxPolicy: { type: 'dangerFullAccess' } };
    expect(await client.call('command/exec', full)).toMatchObject({ exitCode: 0 });
  });
});

test('a client that goes while its output is stuck leaves nothing behind either', async () => {
  await using app = openInProcess();
  const client = await app.client.initialize();
  const name = mark();
  app.fromServer.pause();
  const params = { command: ['sh', '-c', 'yes; :', name], processId: 'p', streamStdoutStderr: true };
  client.post('run', 'command/exec', { ...params, disableOutputCap: true, disableTimeout: true });
  while (app.fromServer.writableLength < OUTBOX_FULL_BYTES) await nextTurn();
  app.hangUp();
  await gone(name);
});
