import { describe, expect, test } from 'vitest';
import { RemoteEnvironment } from '../../src/client/index.js';
import type { ExecProcess, ProcessSpec } from '../../src/contract/index.js';
import { ExecError } from '../../src/protocol/index.js';
import { NO_ANSWER, ScriptedServer, snapshot } from '../harness/scripted-server.js';

const INFO = { shell: { name: 'sh', path: '/bin/sh' }, cwd: 'file:///srv' };

/** A server that knows the extension. */
function ours(answers: ConstructorParameters<typeof ScriptedServer>[0] = {}): ScriptedServer {
  return new ScriptedServer({
    initialize: ({ resumeSessionId }) => ({
      sessionId: resumeSessionId ?? 'session-1',
      environmentInfo: INFO,
      capabilities: { ahead: true, startSize: true, startTimeout: true, serverProcesses: true },
    }),
    ...answers,
  });
}

/** One that does not: it asks for a directory. */
function others(): ScriptedServer {
  return new ScriptedServer({
    'process/start': ({ processId, cwd }) => {
      if (cwd === undefined) throw new ExecError('invalidParams', 'missing field `cwd`');
      return { processId };
    },
  });
}

/** Connects and starts something without waiting for the handshake. */
function startEarly(
  server: ScriptedServer,
  spec: Partial<ProcessSpec> = {},
  options: { resume?: boolean; onOpening?: () => void } = {},
): { environment: Promise<RemoteEnvironment>; process: Promise<ExecProcess> } {
  let environment: Promise<RemoteEnvironment> | undefined;
  const process = new Promise<ExecProcess>((resolve, reject) => {
    environment = RemoteEnvironment.connectEarly({
      id: 'test',
      dial: server.dial,
      resume: options.resume ?? true,
      onOpening: (opening) => {
        options.onOpening?.();
        opening.start({ argv: ['x'], processId: 'p', ...spec }).then(resolve, reject);
      },
    });
    environment.catch(() => undefined);
  });
  process.catch(() => undefined);
  return { environment: environment ?? Promise.reject(new Error('not connecting')), process };
}

function methods(server: ScriptedServer): string[] {
  return server.heard.map(([method]) => method);
}

function end(server: ScriptedServer): void {
  server.exited('p', 1);
  server.closed('p', 2);
}

describe('a start along with the handshake', () => {
  test('is sent before the handshake is answered, and leaves the directory to the server', async () => {
    let answer = (): void => undefined;
    const server = ours();
    server.on(
      'initialize',
      () =>
        new Promise((resolve) => {
          answer = () => resolve({ sessionId: 's', environmentInfo: INFO, capabilities: { ahead: true } });
        }),
    );
    const { environment, process } = startEarly(server, {
      tty: true,
      size: { rows: 5, cols: 6 },
      timeoutMs: 7000,
    });
    expect(await server.hears('process/start')).toMatchObject({
      size: { rows: 5, cols: 6 },
      timeoutMs: 7000,
    });
    expect(server.sentTo('process/start')[0]).not.toHaveProperty('cwd');
    expect(methods(server)).toEqual(['initialize', 'initialized', 'process/start']);
    // Even the whole life of the process may be told before.
    server.output('p', 1, 'early');
    server.exited('p', 2, 3);
    server.closed('p', 3);
    answer();
    await using _environment = await environment;
    expect(await (await process).text()).toBe('early');
    expect(await (await process).wait()).toEqual({ kind: 'exited', exitCode: 3 });
  });

  test('is asked for again, once, by a server that wants to be told the directory', async () => {
    const server = others();
    const { environment, process } = startEarly(server);
    await using _environment = await environment;
    await process;
    expect(server.sentTo('process/start').map(({ cwd }) => cwd)).toEqual([undefined, 'file:///srv']);
    end(server);
  });

  test('is asked for again, once, by a server that does one thing after the other only when told to', async () => {
    const server = ours();
    let introduced = false;
    server.on('process/start', ({ processId }) => {
      if (!introduced) throw new ExecError('notInitialized', 'client must send initialized');
      return { processId };
    });
    const { environment, process } = startEarly(server);
    await server.hears('process/start');
    introduced = true;
    await using _environment = await environment;
    await process;
    expect(server.sentTo('process/start')).toHaveLength(2);
    end(server);
  });

  test('waits where a server of others would do something else', async () => {
    const server = others();
    const spec = { tty: true, cwd: '/srv', size: { rows: 5, cols: 6 } };
    const { environment, process } = startEarly(server, spec);
    await using _environment = await environment;
    await expect(process).rejects.toMatchObject({ code: 'unsupported' });
    expect(server.sentTo('process/start')).toEqual([]);
  });

  test('is not asked for again when the connection ends before the handshake is answered: it may have run', async () => {
    const server = ours();
    server.on('initialize', () => NO_ANSWER);
    const { environment, process } = startEarly(server);
    await server.hears('process/start');
    server.on('initialize', () => ({ sessionId: 's2', environmentInfo: INFO }));
    server.cut();
    // The machine itself can be reached: asked step by step, it answers.
    await using opened = await environment;
    await expect(process).rejects.toMatchObject({ code: 'contactLost' });
    expect(server.sentTo('process/start')).toHaveLength(1);
    expect(opened.client.sessionId).toBe('s2');
    await opened.start({ argv: ['y'], processId: 'p' });
    end(server);
  });

  test('that fails has failed: a program that is not there is not looked for twice', async () => {
    const server = ours({
      'process/start': () => {
        throw new ExecError('spawnFailed', 'There is no such program.');
      },
    });
    const { environment, process } = startEarly(server);
    await using _environment = await environment;
    await expect(process).rejects.toMatchObject({ code: 'spawnFailed' });
    expect(server.sentTo('process/start')).toHaveLength(1);
  });
});

describe('a refused handshake', () => {
  const refusal = { code: 'tooManySessions' };
  const refuse = (): never => {
    throw new ExecError('tooManySessions', 'The server has reached its limit of sessions.');
  };

  test('fails connecting and what was sent along, with its reason', async () => {
    const server = ours({ initialize: refuse, 'process/start': () => NO_ANSWER });
    const { environment, process } = startEarly(server);
    await expect(environment).rejects.toMatchObject(refusal);
    await expect(process).rejects.toMatchObject(refusal);
    expect(server.dials).toBe(1);
  });

  test('says why even on a server that ends the connection over what came behind it', async () => {
    const server = ours();
    server.on('initialize', () => NO_ANSWER);
    const { environment, process } = startEarly(server);
    await server.hears('process/start');
    server.on('initialize', refuse);
    server.cut();
    await expect(environment).rejects.toMatchObject(refusal);
    await expect(process).rejects.toMatchObject({
      code: expect.stringMatching(/contactLost|tooManySessions/),
    });
    expect(server.sentTo('process/start')).toHaveLength(1);
  });

  test('is not tried again where connecting starts a program', async () => {
    const server = ours();
    server.on('initialize', () => NO_ANSWER);
    const { environment, process } = startEarly(server, {}, { resume: false });
    await server.hears('process/start');
    server.cut();
    await expect(environment).rejects.toMatchObject({ code: 'connectionClosed' });
    await expect(process).rejects.toMatchObject({ code: 'connectionClosed' });
    expect(server.dials).toBe(1);
  });
});

test('what depends on what the server can do waits until that is known', async () => {
  const server = new ScriptedServer({
    'process/list': () => {
      throw new ExecError('methodNotFound', 'unknown method');
    },
  });
  const outcomes: Promise<unknown>[] = [];
  await using environment = await RemoteEnvironment.connectEarly({
    id: 'test',
    dial: server.dial,
    resume: true,
    onOpening: (opening) => {
      outcomes.push(opening.info(), opening.listServer(), opening.files.rename('/a', '/b'));
      outcomes.push(opening.terminateOnServer({ processId: 'p', sessionId: 's' }));
    },
  });
  const unsupported = { status: 'rejected', reason: { code: 'unsupported' } };
  expect(await Promise.allSettled(outcomes)).toMatchObject([
    { status: 'fulfilled', value: INFO },
    unsupported,
    unsupported,
    unsupported,
  ]);
  expect(environment.lost).toBe(false);
  expect(server.sentTo('process/terminate')).toEqual([]);
});

describe('coming back', () => {
  const caughtUp = (): unknown =>
    snapshot({ chunks: [{ seq: 1, text: 'a' }], nextSeq: 4, exitCode: 0, closed: true });

  async function cutWhileRunning(server: ScriptedServer): Promise<[RemoteEnvironment, ExecProcess]> {
    const environment = await RemoteEnvironment.connect({ id: 'test', dial: server.dial, resume: true });
    const process = await environment.start({ argv: ['x'], processId: 'p', pipeStdin: true });
    return [environment, process];
  }

  test('asks for what was missed and repeats what was not answered along with the handshake', async () => {
    const server = ours({ 'process/read': caughtUp });
    const [environment, process] = await cutWhileRunning(server);
    await using _environment = environment;
    server.on('process/write', () => NO_ANSWER);
    const write = process.write('typed');
    await server.hears('process/write');
    let answer = (): void => undefined;
    server.on(
      'initialize',
      ({ resumeSessionId }) =>
        new Promise((resolve) => {
          answer = () => resolve({ sessionId: resumeSessionId, capabilities: { ahead: true } });
        }),
    );
    server.on('process/write', () => ({ status: 'accepted' }));
    const before = server.heard.length;
    server.cut();
    await server.hears('process/write', 2);
    await server.hears('process/read');
    expect(methods(server).slice(before).sort()).toEqual([
      'initialize',
      'initialized',
      'process/read',
      'process/write',
    ]);
    answer();
    expect(server.sentTo('process/write').map(({ writeId }) => writeId)).toEqual(['1', '1']);
    expect(await write).toBe('accepted');
    expect(await process.text()).toBe('a');
  });

  test('on a line that breaks before the handshake is answered, asks for nothing else the next time', async () => {
    const server = ours({ 'process/read': caughtUp });
    const [environment, process] = await cutWhileRunning(server);
    await using _environment = environment;
    let answer = (): void => undefined;
    server.on(
      'initialize',
      ({ resumeSessionId }) =>
        new Promise((resolve) => {
          answer = () => resolve({ sessionId: resumeSessionId, capabilities: { ahead: true } });
        }),
    );
    server.cut();
    await server.hears('process/read');
    const before = server.heard.length;
    server.cut();
    await server.hears('initialize', 3);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(methods(server).slice(before)).toEqual(['initialize']);
    answer();
    expect(await process.text()).toBe('a');
    expect(await process.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  });

  test('to a busy session repeats all of it with the next attempt', async () => {
    const server = ours({ 'process/read': caughtUp });
    const [environment, process] = await cutWhileRunning(server);
    await using _environment = environment;
    let refusals = 2;
    server.on('process/read', () => {
      if (refusals > 0) throw new ExecError('notInitialized', 'client must call initialize');
      return caughtUp();
    });
    server.on('initialize', ({ resumeSessionId }) => {
      if (refusals === 0) return { sessionId: resumeSessionId, capabilities: { ahead: true } };
      refusals -= 1;
      throw new ExecError('sessionBusy', 'attached elsewhere');
    });
    server.cut();
    expect(await process.text()).toBe('a');
    expect(await process.wait()).toEqual({ kind: 'exited', exitCode: 0 });
  });

  test('to a server that opened another session instead takes none of its answers for those of the old one', async () => {
    const server = ours();
    const [environment, process] = await cutWhileRunning(server);
    await using _environment = environment;
    server.on('process/read', caughtUp);
    server.on('process/write', () => NO_ANSWER);
    const write = process.write('typed');
    write.catch(() => undefined);
    await server.hears('process/write');
    server.on('process/write', () => ({ status: 'accepted' }));
    server.on('initialize', () => ({ sessionId: 'another', capabilities: { ahead: true } }));
    server.cut();
    expect(await process.wait()).toMatchObject({ kind: 'contactLost' });
    await expect(write).rejects.toMatchObject({ code: 'contactLost' });
  });

  test('waits for the handshake of a server that does not know better', async () => {
    const server = new ScriptedServer({ 'process/read': caughtUp });
    const [environment, process] = await cutWhileRunning(server);
    await using _environment = environment;
    let answer = (): void => undefined;
    server.on(
      'initialize',
      ({ resumeSessionId }) =>
        new Promise((resolve) => {
          answer = () => resolve({ sessionId: resumeSessionId });
        }),
    );
    const before = server.heard.length;
    server.cut();
    await server.hears('initialize', 2);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(methods(server).slice(before)).toEqual(['initialize']);
    answer();
    expect(await process.text()).toBe('a');
  });
});
