import { expect, test } from 'vitest';
import { gone, pidsWithArgument } from '../harness/processes.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';

/** Only root becomes somebody else without a password. */
const isRoot = process.getuid?.() === 0;

/** As somebody else: one whose parents live, one in the background, and a daemon whose parents are gone. `grep` finds itself, too. */
const scriptOf = (mark: string) => `
su nobody -s /bin/sh -c "sh -c 'sleep 1000; :' ${mark}; true" &
su - nobody -s /bin/sh -c "sh -c 'sleep 1000; :' ${mark} > /dev/null 2>&1 &" 2> /dev/null
/usr/sbin/runuser -u nobody -- setsid -f sh -c 'sleep 1000; :' ${mark} > /dev/null 2>&1
until [ "$(grep -lazxF ${mark} /proc/[0-9]*/cmdline 2> /dev/null | wc -l)" -ge 4 ]; do sleep 0.01; done
echo up; wait; sleep 1000`;

let count = 0;

async function startTree(server: ServerProcess) {
  count += 1;
  const mark = `somebody-else-${process.pid}-${count}`;
  const { client, socket } = await dialWire(server.url);
  await client.handshake();
  await client.call('process/start', startParams('tree', sh(scriptOf(mark))));
  await client.until(() => client.output('tree').toString() === 'up\n');
  // Whoever is about to become another program is counted twice for a moment.
  await expect.poll(() => pidsWithArgument(mark).length).toBe(3);
  return { client, socket, mark };
}

test.runIf(isRoot)('what runs as somebody else ends when its process is terminated', async () => {
  await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
  const [one, other] = [await startTree(server), await startTree(server)];
  await one.client.call('process/terminate', { processId: 'tree' });
  await gone(one.mark);
  expect(pidsWithArgument(other.mark).length).toBeGreaterThanOrEqual(3);
  for (const { socket } of [one, other]) socket.terminate();
});

test.runIf(isRoot)('and when its session ends', async () => {
  await using server = await ServerProcess.start({ args: ['--log-level', 'silent', '--session-ttl', '0'] });
  const [one, other] = [await startTree(server), await startTree(server)];
  one.socket.terminate();
  await gone(one.mark);
  expect(pidsWithArgument(other.mark).length).toBeGreaterThanOrEqual(3);
  other.socket.terminate();
});

test.runIf(isRoot).each(['SIGTERM', 'SIGKILL'] as const)('and when the server gets %s', async (signal) => {
  await using server = await ServerProcess.start({ args: ['--log-level', 'silent'] });
  const { mark } = await startTree(server);
  await server.stop(signal);
  await gone(mark);
});
