// Needs: bwrap
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { NetworkSpace } from '../../../src/host/network/network-space.js';
import { sandboxSupport } from '../../../src/host/sandbox/index.js';
import { trustedProgram } from '../../../src/host/kernel/index.js';

const run = promisify(execFile);
const spaces: NetworkSpace[] = [];
afterEach(() => {
  for (const space of spaces.splice(0)) space.close();
});

async function openSpace(): Promise<NetworkSpace> {
  const support = await sandboxSupport();
  const nsenter = trustedProgram('nsenter');
  if (!support.available || nsenter === null) throw new Error('no sandboxes here');
  const space = new NetworkSpace({ bwrap: support.bwrap, nsenter, userNamespace: support.userNamespace });
  spaces.push(space);
  return space;
}

const inside = async (space: NetworkSpace, script: string): Promise<string> =>
  (await run('nsenter', [...space.entrance.enter, '--', 'bash', '-c', script])).stdout.trim();

test('programs inside reach our port and nothing else', async () => {
  const space = await openSpace();
  const { port } = await space.take((socket) => socket.end('from outside'));
  expect(await inside(space, `cat < /dev/tcp/127.0.0.1/${port}`)).toBe('from outside');
  await expect(inside(space, 'cat < /dev/tcp/192.0.2.1/80')).rejects.toThrow('Network is unreachable');
  expect(await inside(space, 'cut -d: -f1 -s /proc/net/dev | tr -d " \\n"')).toBe('lo');
});

test('more programs than ports of a batch get ports of the same network', async () => {
  const space = await openSpace();
  const taken = await Promise.all(
    Array.from({ length: 40 }, (_, index) => space.take((socket) => socket.end(`way ${index}`))),
  );
  expect(new Set(taken.map(({ port }) => port)).size).toBe(40);
  const said = await inside(
    space,
    taken.map(({ port }) => `cat < /dev/tcp/127.0.0.1/${port}; echo`).join('; '),
  );
  expect(said.split('\n').toSorted()).toEqual(taken.map((_, index) => `way ${index}`).toSorted());
});

test('a port that was given back answers nobody until it is taken again', async () => {
  const space = await openSpace();
  const { port, release } = await space.take((socket) => socket.end('first'));
  release();
  expect(await inside(space, `cat < /dev/tcp/127.0.0.1/${port}`)).toBe('');
  const again = await space.take((socket) => socket.end('second'));
  expect(again.port).toBe(port);
  expect(await inside(space, `cat < /dev/tcp/127.0.0.1/${port}`)).toBe('second');
});

test('nothing is left of it', async () => {
  const before = readdirSync('/proc/self/fd').length;
  const space = await openSpace();
  await space.take(() => undefined);
  space.close();
  space.close();
  await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
  await expect(space.take(() => undefined)).rejects.toMatchObject({ code: 'sandboxUnavailable' });
});
