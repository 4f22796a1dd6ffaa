import { expect, test } from 'vitest';
import { ExecClient, startProcess } from '../../src/client/index.js';
import { MAX_WAITING_EVENTS } from '../../src/client/process/event-sequencer.js';
import { story } from '../harness/events.js';
import { NO_ANSWER, ScriptedServer } from '../harness/scripted-server.js';

async function open(server: ScriptedServer): Promise<ExecClient> {
  return await ExecClient.connect({ dial: server.dial, resume: true });
}

test('the handshake announces flow control and ends with initialized', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  await server.hears('initialized');
  expect(server.heard).toEqual([
    [
      'initialize',
      { clientName: 'execwire', resumeSessionId: null, capabilities: { flowControl: true, ahead: true } },
    ],
    ['initialized', {}],
  ]);
  expect(client.sessionId).toBe('session-1');
  expect(client.environmentInfo.cwd).toBe('file:///srv');
});

test('environment info is asked for when the handshake does not bring it', async () => {
  const server = new ScriptedServer({
    initialize: () => ({ sessionId: 's', unknownField: 1 }),
    'environment/info': () => ({ shell: { name: 'zsh', path: '/bin/zsh' }, futureField: [] }),
  });
  await using client = await open(server);
  expect(client.environmentInfo.shell.name).toBe('zsh');
});

test('events come out in order, once, whatever order they came in', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await startProcess(client, { argv: ['x'], processId: 'p' });
  server.output('p', 3, 'c');
  server.closed('p', 5);
  server.output('p', 1, 'a');
  server.output('p', 1, 'a');
  server.exited('p', 4, 7);
  server.output('p', 2, 'b');
  server.output('p', 3, 'c');
  expect(await story(process)).toEqual(['1:a', '2:b', '3:c', '4 exited 7', '5 closed']);
  expect(await process.wait()).toEqual({ kind: 'exited', exitCode: 7 });
});

test.each(['session', 'kept'] as const)(
  'what is asked of a process leaves in the order it was asked: %s',
  async (lease) => {
    const server = new ScriptedServer({
      initialize: () => ({
        sessionId: 'session-1',
        environmentInfo: { shell: { name: 'sh', path: '/bin/sh' }, cwd: 'file:///srv' },
        capabilities: {
          leases: true,
          stdinWindow: { windowBytes: 1024 },
          processSignals: true,
          processResize: true,
          processCloseStdin: true,
        },
      }),
    });
    const asked = [
      'process/signal',
      'process/write',
      'process/resize',
      'process/closeStdin',
      'process/terminate',
    ];
    for (const method of asked) server.on(method, () => NO_ANSWER);
    await using client = await open(server);
    const process = await startProcess(client, { argv: ['x'], processId: 'p', tty: true, lease });
    const size = { rows: 1, cols: 1 };
    for (const call of [
      process.signal('SIGINT'),
      process.write('x'),
      process.resize(size),
      process.closeStdin(),
      process.terminate(),
    ])
      call.catch(() => undefined);
    await server.hears('process/terminate');
    expect(server.heard.map(([method]) => method).filter((method) => asked.includes(method))).toEqual(asked);
  },
);

test('a process that is over before its start is answered loses nothing', async () => {
  const server = new ScriptedServer({
    'process/start': ({ processId }) => {
      server.output('p', 1, 'hi');
      server.closed('p', 3);
      server.exited('p', 2);
      return { processId };
    },
  });
  await using client = await open(server);
  const process = await startProcess(client, { argv: ['x'], processId: 'p' });
  expect(await story(process)).toEqual(['1:hi', '2 exited 0', '3 closed']);
});

test('a failed start leaves its id free', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const works = (params: Record<string, unknown>): unknown => ({ processId: params.processId });
  server.on('process/start', () => {
    throw new Error('no');
  });
  await expect(startProcess(client, { argv: ['x'], processId: 'p' })).rejects.toMatchObject({
    code: 'internalError',
  });
  server.on('process/start', works);
  await startProcess(client, { argv: ['x'], processId: 'p' });
  await expect(startProcess(client, { argv: ['x'], processId: 'p' })).rejects.toMatchObject({
    code: 'processIdInUse',
  });
});

test('a server that leaves an event out for too long fails the process and nothing else', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await startProcess(client, { argv: ['x'], processId: 'p' });
  server.output('p', 1, 'a');
  for (let seq = 3; seq <= 3 + MAX_WAITING_EVENTS; seq += 1) server.output('p', seq, 'x');
  expect(await story(process)).toEqual(['1:a', 'error protocolViolation']);
  expect(await process.wait()).toMatchObject({ kind: 'contactLost', error: { code: 'protocolViolation' } });
  expect(await server.hears('process/terminate')).toEqual({ processId: 'p' });
  await expect(process.write('x')).rejects.toMatchObject({ code: 'protocolViolation' });
  await expect(client.call('environment/status', null)).resolves.toEqual({ status: 'ready' });
});

test.each([
  ['an unknown stream', { processId: 'p', seq: 1, stream: 'log', chunk: '' }],
  ['broken base64', { processId: 'p', seq: 1, stream: 'stdout', chunk: 'a' }],
  ['a number that is none', { processId: 'p', seq: 'one', stream: 'stdout', chunk: '' }],
])('a notification with %s fails the process it names', async (_, params) => {
  const server = new ScriptedServer();
  await using client = await open(server);
  const process = await startProcess(client, { argv: ['x'], processId: 'p' });
  server.notify('process/output', params);
  expect(await story(process)).toEqual(['error protocolViolation']);
});

test('notifications about nothing known are ignored', async () => {
  const server = new ScriptedServer();
  await using client = await open(server);
  server.output('stranger', 1, 'x');
  server.notify('fs/missingChanged', { watchId: 1 });
  server.notify('process/output', null);
  await expect(client.call('environment/status', null)).resolves.toEqual({ status: 'ready' });
});

test('a call can time out or be given up, and its late answer does no harm', async () => {
  const answers: ((value: unknown) => void)[] = [];
  const late = (): Promise<unknown> => new Promise((resolve) => answers.push(resolve));
  const server = new ScriptedServer({ 'environment/status': late });
  await using client = await open(server);
  await expect(client.call('environment/status', null, { timeoutMs: 5 })).rejects.toMatchObject({
    code: 'requestTimeout',
  });
  const given = new AbortController();
  const call = client.call('environment/status', null, { signal: given.signal });
  await server.hears('environment/status', 2);
  given.abort();
  await expect(call).rejects.toMatchObject({ code: 'aborted' });
  for (const answer of answers) answer({ status: 'ready' });
  server.on('environment/status', () => ({ status: 'ready' }));
  await expect(client.call('environment/status', null)).resolves.toEqual({ status: 'ready' });
  expect(server.dials).toBe(1);
});

test('an answer that lacks what is needed is a breach, not a crash', async () => {
  const server = new ScriptedServer({ 'process/terminate': () => ({}) });
  await using client = await open(server);
  await expect(client.call('process/terminate', { processId: 'p' })).rejects.toMatchObject({
    code: 'protocolViolation',
  });
});

test('connecting fails clearly when nobody answers the handshake', async () => {
  const server = new ScriptedServer({ initialize: () => NO_ANSWER });
  const options = { dial: server.dial, resume: true, initializeTimeoutMs: 10 };
  await expect(ExecClient.connect(options)).rejects.toMatchObject({ code: 'requestTimeout' });
  const stuck = { dial: () => NO_ANSWER, resume: true, connectTimeoutMs: 10 };
  await expect(ExecClient.connect(stuck)).rejects.toMatchObject({ code: 'notConnected' });
  server.reachable = false;
  await expect(ExecClient.connect(options)).rejects.toMatchObject({ code: 'notConnected' });
});
