import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nextDescriptor, setLimit } from '../harness/limits.js';
import { bin } from '../../testkit/launch.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, startParams } from '../../testkit/wire-client.mjs';

/** Node itself does not start with fewer, and newer ones need a few more. */
const FEWEST = 20;
/** From here on there is room for a client and a process. */
const MOST = 44;
const PLENTY = 1024;
/** More than fit, whatever is left. */
const CLIENTS = 12;

const nothing = fileURLToPath(new URL('../fixtures/nothing.cjs', import.meta.url));

const limits = Array.from({ length: MOST - FEWEST }, (_, index) => FEWEST + index);

/** What precedes a program that may open few files. */
const withFew = (limit: number): string[] => ['-c', `ulimit -n ${limit}; exec "$@"`, 'sh'];

/** Whether Node runs any program with so few. If not, ours has no chance to say why. */
function nodeRuns(limit: number): boolean {
  return spawnSync('sh', [...withFew(limit), process.execPath, nothing], { stdio: 'ignore' }).status === 0;
}

/** Asks for a bit of everything. What cannot be had is refused. */
async function tryEverything(url: string): Promise<void> {
  const { client, socket } = await dialWire(url);
  const closed = client.untilClosed();
  const asked = async (): Promise<void> => {
    await client.handshake();
    await client.ask('fs/readDirectory', { path: 'file:///' });
    await client.ask('process/start', startParams('p', ['true']));
    await client.ask('process/start', startParams('t', ['true'], { tty: true }));
    await client.ask('environment/info');
  };
  await Promise.race([asked(), closed]);
  socket.terminate();
}

async function works(url: string): Promise<void> {
  const { client, socket } = await dialWire(url);
  await client.handshake();
  await client.call('process/start', startParams('after', ['echo', 'fine']));
  await client.closedEvents('after');
  expect(client.output('after').toString()).toBe('fine\n');
  socket.terminate();
}

describe.concurrent('a server that may open few files', () => {
  test.for(limits)(
    '%i: says why it does not start, or lives through what it cannot have',
    async (limit, { onTestFinished }) => {
      const server = spawn('sh', [...withFew(limit), process.execPath, bin, 'serve'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      onTestFinished(() => void server.kill('SIGKILL'));
      let stderr = '';
      server.stderr.on('data', (data: Buffer) => {
        stderr += data.toString();
      });
      const ended = once(server, 'close');
      const lines = createInterface({ input: server.stdout });
      const [url] = (await Promise.race([once(lines, 'line'), ended.then(() => [null])])) as [string | null];
      if (url === null) {
        if (nodeRuns(limit)) expect(stderr).toMatch(/^execwire: .*open files.*\n$/);
        return;
      }
      const attempts = Array.from({ length: CLIENTS }, () => tryEverything(url));
      await Promise.allSettled(attempts);
      await Promise.allSettled([tryEverything(url)]);
      expect({ code: server.exitCode, signal: server.signalCode, stderr }).toMatchObject({
        code: null,
        signal: null,
        stderr: expect.not.stringMatching(/    at |internal error/),
      });
      server.kill('SIGTERM');
      await ended;
      expect(server.exitCode).toBe(0);
    },
  );

  test.each([0, 1, 2, 3, 5, 8, 13])('%i more than it has: works once there is room', async (more) => {
    await using server = await ServerProcess.start();
    setLimit(server.pid, 'nofile', nextDescriptor(server.pid) + more);
    await Promise.allSettled(Array.from({ length: CLIENTS }, () => tryEverything(server.url)));
    setLimit(server.pid, 'nofile', PLENTY);
    await works(server.url);
    // What was found out while there was no room is not remembered as if it were so.
    const { client, socket } = await dialWire(server.url);
    await client.handshake();
    expect(await client.call('environment/info')).toMatchObject({
      sandbox: await (elsewhere ??= sandboxElsewhere()),
    });
    socket.terminate();
    expect(server.stderr).not.toContain('internal error');
  });
});

let elsewhere: Promise<unknown> | undefined;

/** What a server says of sandboxes that has room from the start. */
async function sandboxElsewhere(): Promise<unknown> {
  await using server = await ServerProcess.start();
  const { client } = await dialWire(server.url);
  await client.handshake();
  return (await client.call('environment/info')).sandbox;
}
