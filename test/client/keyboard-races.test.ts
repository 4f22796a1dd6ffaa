import { expect, test } from 'vitest';
import { typeTo } from '../../src/cli/terminal/type-to.js';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import { ExecError } from '../../src/protocol/index.js';
import { serve } from '../../src/server/index.js';
import { FaultProxy } from '../../testkit/fault-proxy.mjs';
import { ScriptedServer } from '../harness/scripted-server.js';

const ATTACHED = { processId: 'p', tty: true, lease: 'kept', afterSeq: 0, nextSeq: 1, sandboxType: 'none' };

/** A server whose answers are followed at once by what happened since. */
function hurried(
  answers: Record<string, object>,
  changed: (send: (holds: boolean) => void) => void,
): ScriptedServer {
  const server: ScriptedServer = new ScriptedServer({
    initialize: () => ({
      sessionId: 's',
      environmentInfo: { shell: { name: 'sh', path: '/bin/sh' }, cwd: 'file:///' },
      capabilities: { leases: true, viewers: true },
    }),
  });
  for (const [method, answer] of Object.entries(answers))
    server.on(method, () => {
      queueMicrotask(() =>
        changed((holds) => server.notify('process/keyboardChanged', { processId: 'p', holds })),
      );
      return answer;
    });
  return server;
}

function connect(server: ScriptedServer): Promise<RemoteEnvironment> {
  return RemoteEnvironment.connect({ id: 'x', dial: server.dial, resume: false });
}

test('a keyboard that is lost right after it was given is not held', async () => {
  const server = hurried({ 'process/attach': { ...ATTACHED, holds: true } }, (send) => send(false));
  await using environment = await connect(server);
  const child = await environment.attach('p', { keyboard: 'take' });
  await expect.poll(() => child.keyboard?.holds).toBe(false);
});

test('a keyboard that is lost right after it was taken is not held', async () => {
  const server = hurried({ 'process/keyboard': { holds: true, free: false } }, (send) => send(false));
  server.on('process/attach', () => ({ ...ATTACHED, holds: false }));
  await using environment = await connect(server);
  const child = await environment.attach('p', { keyboard: 'none' });
  await child.keyboard?.take();
  expect(child.keyboard?.holds).toBe(false);
});

test('who gives the keyboard away and gets it back at once has it', async () => {
  const server = hurried({ 'process/keyboard': { holds: false, free: false } }, (send) => send(true));
  server.on('process/attach', () => ({ ...ATTACHED, holds: true }));
  await using environment = await connect(server);
  const child = await environment.attach('p', { keyboard: 'take' });
  await child.keyboard?.give(2);
  expect(child.keyboard?.holds).toBe(true);
});

test('who views by a share goes on after the line was cut', async () => {
  await using server = await serve();
  await using owner = await RemoteEnvironment.connect({
    id: 'owner',
    dial: () => dialWebSocket(String(server.urls[0])),
    resume: true,
  });
  const child = await owner.start({ argv: ['cat'], tty: true, lease: 'kept', processId: 'p' });
  const { token } = await owner.share('p');
  const proxy = await FaultProxy.to(String(server.urls[0]));
  try {
    await using viewer = await RemoteEnvironment.connect({
      id: 'viewer',
      dial: () => dialWebSocket(proxy.url, { authBearerToken: token }),
      resume: true,
    });
    const view = await viewer.attach('p', { screen: true, keyboard: 'view' });
    proxy.cut();
    await child.write('afterwards\r');
    let seen = '';
    for await (const event of view.events()) {
      if (event.type === 'output') seen += Buffer.from(event.bytes).toString();
      if (seen.includes('afterwards')) break;
    }
  } finally {
    await proxy.close();
    await child.terminate();
  }
});

test('a key that is pressed while another takes the keyboard takes it back, and is not lost', async () => {
  const server = hurried({}, () => undefined);
  server.on('process/attach', () => ({ ...ATTACHED, holds: true }));
  server.on('process/keyboard', () => ({ holds: true, free: false }));
  server.on('process/resize', () => ({}));
  let isElsewhere = true;
  server.on('process/write', () => {
    if (isElsewhere) {
      isElsewhere = false;
      throw new ExecError('keyboardElsewhere', 'Another client types to this process.');
    }
    return { status: 'accepted' };
  });
  await using environment = await connect(server);
  const child = await environment.attach('p', { keyboard: 'take' });
  const type = typeTo(child);
  expect(await type(Buffer.from('a'))).toBe('accepted');
  expect(await type(Buffer.from('b'))).toBe('accepted');
  const written = server
    .sentTo('process/write')
    .map(({ chunk }) => Buffer.from(String(chunk), 'base64').toString());
  expect(written).toEqual(['a', 'a', 'b']);
});
