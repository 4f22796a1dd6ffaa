import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RemoteEnvironment, dialWebSocket } from '../../src/client/index.js';
import { TestFolder } from '../harness/processes.js';
import { readOnly } from '../../testkit/sandboxes.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';
import { type Exceptions, processContract } from './process.contract.js';
import { runContract } from './run.contract.js';

const blocker = fileURLToPath(new URL('../fixtures/without-koffi.cjs', import.meta.url));

/** What cannot be had from `node:child_process`. Everything else holds without the native library, too. */
const portableExceptions: Exceptions = {
  terminals: false,
  // Without marks, what left the session and lost its parent is not found.
  takesWholeTrees: false,
};

let server: ServerProcess;
beforeAll(async () => {
  const env = { NODE_OPTIONS: `--require=${blocker}` };
  server = await ServerProcess.start({ args: ['--session-ttl', '1'], env });
});
afterAll(() => server.stop());

const open = () =>
  RemoteEnvironment.connect({ id: 'portable', dial: () => dialWebSocket(server.url), resume: true });

processContract('without koffi', open, portableExceptions);
runContract('without koffi', open, portableExceptions);

describe('without koffi', () => {
  test('a terminal is refused in plain words and the id stays free', async () => {
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    const { error } = await client.ask('process/start', startParams('p', ['true'], { tty: true }));
    expect(error).toMatchObject({
      message: 'This machine has no terminal backend; start without a terminal.',
      data: { code: 'ptyUnavailable' },
    });
    await client.call('process/start', startParams('p', ['true']));
    expect((await client.closedEvents('p')).at(-1)?.method).toBe('process/closed');
    socket.terminate();
  });

  test('a policy is kept or refused, never ignored', async () => {
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    const sandbox = readOnly();
    using folder = new TestFolder();
    const script = `touch ${folder.file('new')} 2>/dev/null && echo written || echo denied`;
    const { error } = await client.ask('process/start', startParams('p', ['sh', '-c', script], { sandbox }));
    if (error) expect(error.data?.code).toBe('sandboxUnavailable');
    else {
      await client.closedEvents('p');
      expect(client.output('p').toString()).toBe('denied\n');
    }
    socket.terminate();
  });
});
