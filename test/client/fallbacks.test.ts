import { describe, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import { story } from '../harness/events.js';
import { ScriptedServer } from '../harness/scripted-server.js';

async function open(server: ScriptedServer): Promise<RemoteEnvironment> {
  return await RemoteEnvironment.connect({ id: 'test', dial: server.dial, resume: true });
}

/** Lets a process end when it is terminated, as a kill does. */
function mortal(server: ScriptedServer): void {
  server.on('process/terminate', () => {
    server.exited('p', 1, 137);
    server.closed('p', 2);
    return { running: true };
  });
}

describe('a server that announces nothing', () => {
  test('gets starts it understands: the whole environment, the directory it works in', async () => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    mortal(server);
    await environment.start({ argv: ['a', 'b'], processId: 'p' });
    expect(server.sentTo('process/start')).toEqual([
      {
        processId: 'p',
        argv: ['a', 'b'],
        cwd: 'file:///srv',
        env: {},
        envPolicy: { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
        tty: false,
        pipeStdin: false,
      },
    ]);
  });

  test.each([
    ['/a b/c#d?e%', 'file:///a%20b/c%23d%3Fe%25'],
    ['file:///as/it/is', 'file:///as/it/is'],
    ['C:\\Users\\me', 'file:///C:/Users/me'],
    ['/colon:name', 'file:///colon%3Aname'],
  ])('takes %s as a directory', async (cwd, uri) => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    mortal(server);
    await environment.start({ argv: ['x'], processId: 'p', cwd });
    expect(server.sentTo('process/start')[0]).toMatchObject({ cwd: uri });
  });

  test('refuses a relative directory before anything is sent', async () => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    await expect(environment.start({ argv: ['x'], cwd: 'here' })).rejects.toMatchObject({
      code: 'invalidPath',
    });
    expect(server.sentTo('process/start')).toEqual([]);
  });

  test('is sent interrupt for SIGINT, the end-of-file key for the end of input', async () => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    mortal(server);
    const process = await environment.start({ argv: ['x'], processId: 'p', tty: true });
    await process.signal('SIGINT');
    await process.closeStdin();
    expect(server.heard.slice(-2)).toEqual([
      ['process/signal', { processId: 'p', signal: 'interrupt' }],
      ['process/write', { processId: 'p', chunk: 'BA==', writeId: '1' }],
    ]);
  });

  test('does not get what it cannot do; the error says so', async () => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    mortal(server);
    const process = await environment.start({ argv: ['x'], processId: 'p', pipeStdin: true });
    const refused = { code: 'unsupported' };
    await expect(process.signal('SIGTERM')).rejects.toMatchObject(refused);
    await expect(process.resize({ rows: 1, cols: 2 })).rejects.toMatchObject(refused);
    await expect(process.closeStdin()).rejects.toMatchObject(refused);
    await expect(
      environment.start({ argv: ['x'], tty: true, size: { rows: 50, cols: 132 } }),
    ).rejects.toMatchObject(refused);
    await process.terminate({ graceMs: 100 });
    expect(server.sentTo('process/terminate')).toEqual([{ processId: 'p' }]);
  });

  test('has time limits kept on this side', async () => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    mortal(server);
    const process = await environment.start({ argv: ['x'], processId: 'p', timeoutMs: 10 });
    expect(await story(process)).toEqual(['1 exited 137 timed out', '2 closed']);
    expect(await process.wait()).toEqual({ kind: 'timedOut', exitCode: 137 });
  });

  test('an exit just before the time limit is no time-out', async () => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    server.on('process/terminate', () => {
      server.exited('p', 1, 5);
      server.closed('p', 2);
      return { running: false };
    });
    const process = await environment.start({ argv: ['x'], processId: 'p', timeoutMs: 10 });
    expect(await process.wait()).toEqual({ kind: 'exited', exitCode: 5 });
  });

  test('is listed from what was started here', async () => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    mortal(server);
    await environment.start({ argv: ['x', 'y'], processId: 'p' });
    expect(await environment.list()).toMatchObject([
      { processId: 'p', pid: null, argv: ['x', 'y'], exited: false },
    ]);
  });
});

describe('a server that cannot find lines', () => {
  test('is not asked to, and the error says what to do', async () => {
    const server = new ScriptedServer();
    await using environment = await open(server);
    mortal(server);
    const process = await environment.start({ argv: ['x'], processId: 'p' });
    for (const asked of [
      process.search({ pattern: 'x' }),
      process.readLines(),
      process.read({ sinceMs: -1000 }),
    ])
      await expect(asked).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringMatching(/Update the server/),
      });
    expect(server.heard.map(([method]) => method)).not.toContain('process/search');
  });
});

describe('a server that announces everything', () => {
  test('is asked for it', async () => {
    const server = new ScriptedServer({
      initialize: () => ({
        sessionId: 's',
        environmentInfo: { shell: { name: 'sh', path: '/bin/sh' }, cwd: 'file:///srv' },
        capabilities: {
          processResize: true,
          processCloseStdin: true,
          processList: true,
          processSignals: true,
          startSize: true,
          startTimeout: true,
          terminateGrace: true,
        },
      }),
      'process/resize': () => ({}),
      'process/closeStdin': () => ({}),
      'process/list': () => ({ processes: [] }),
    });
    await using environment = await open(server);
    mortal(server);
    const size = { rows: 5, cols: 6 };
    const process = await environment.start({
      argv: ['x'],
      processId: 'p',
      tty: true,
      size,
      timeoutMs: 60_000,
    });
    const started = server.sentTo('process/start')[0];
    expect(started).toMatchObject({ size, timeoutMs: 60_000 });
    const before = server.heard.length;
    await process.resize(size);
    await process.closeStdin();
    await process.signal('SIGUSR1');
    expect(await environment.list()).toEqual([]);
    await process.terminate({ graceMs: 7 });
    expect(server.heard.slice(before)).toEqual([
      ['process/resize', { processId: 'p', size }],
      ['process/closeStdin', { processId: 'p' }],
      ['process/signal', { processId: 'p', signal: 'SIGUSR1' }],
      ['process/list', {}],
      ['process/terminate', { processId: 'p', graceMs: 7 }],
    ]);
  });
});

test('closing an environment ends its processes and hears them out', async () => {
  const server = new ScriptedServer();
  const environment = await open(server);
  mortal(server);
  const process = await environment.start({ argv: ['x'], processId: 'p' });
  await environment.close();
  await environment.close();
  expect(server.sentTo('process/terminate')).toEqual([{ processId: 'p' }]);
  expect(await process.wait()).toEqual({ kind: 'exited', exitCode: 137 });
});
