import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { expect, test } from 'vitest';
import { ConsoleLines } from '../../src/console/console-lines.js';
import type { ConsoleMachine } from '../../src/console/index.js';
import { MachineDirectory } from '../../src/console/machine-directory.js';
import { Door } from '../../src/transport/door.js';

/** A promise and what resolves it. */
function gate<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((each) => {
    resolve = each;
  });
  return { promise, resolve };
}

test('a page that was signed out while its machine was being reached leaves nothing open', async () => {
  const [asked, reached, over] = [gate<void>(), gate<void>(), gate<string>()];
  const serve: ConsoleMachine['serve'] = async (channel) => {
    asked.resolve();
    await reached.promise;
    channel.open({ message: () => undefined, closed: ({ message }) => over.resolve(message) });
  };
  const server = createServer();
  const machines = new MachineDirectory([{ id: 'slow', kind: 'url', where: '', serve }], null);
  const lines = new ConsoleLines({ machines, door: new Door(server) });
  let signOut = (): void => undefined;
  const onOver = (listener: () => void): (() => void) => {
    signOut = listener;
    return () => undefined;
  };
  const session = { role: 'full', linkId: null, expiresAt: Number.MAX_SAFE_INTEGER, onOver } as const;
  const gone = gate<void>();
  server.on('upgrade', (request, socket, head) => {
    socket.on('close', () => gone.resolve());
    lines.connect(request, socket, { head, session, path: '/machines/slow' });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const page = new WebSocket(`ws://127.0.0.1:${port}`, ['execwire']);
  await asked.promise;
  signOut();
  // The server's own end is closed before anybody listens to it.
  await gone.promise;
  for (let count = 0; count < 5; count += 1) await turn();
  reached.resolve();
  expect(await over.promise).not.toBe('');
  page.terminate();
  server.close();
});
