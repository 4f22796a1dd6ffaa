import { expect, test } from 'vitest';
import { TestFolder } from '../harness/processes.js';
import { readOnly } from '../../testkit/sandboxes.mjs';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { dialWire, sh, startParams } from '../../testkit/wire-client.mjs';
import { ServerResources } from '../harness/server-resources.mjs';

/** Far more than a server needs to take leave of the dead, on a busy machine. */
const LIMIT_MS = 20_000;

test('orphans a server inherits are taken leave of, whoever started them', async () => {
  using folder = new TestFolder();
  using resources = new ServerResources();
  await using server = await ServerProcess.start({ args: ['--log-level', 'silent'], env: resources.env });
  resources.pid = server.pid;
  const { client, socket } = await dialWire(server.url);
  await client.handshake();
  await client.call('process/start', startParams('first', ['true']));
  await client.closedEvents('first');
  // Looking what a sandbox can do leaves a dead process behind that no command of ours started.
  const sandbox = readOnly(folder.path);
  for (let round = 0; round < 5; round += 1) {
    await client.call('process/start', startParams(`confined${round}`, ['true'], { sandbox }));
    await client.closedEvents(`confined${round}`);
    await client.call('process/start', startParams(`plain${round}`, sh('(setsid true &); (setsid true &)')));
    await client.closedEvents(`plain${round}`);
  }
  // The watchdog stays.
  await expect.poll(() => resources.children.length, { interval: 50, timeout: LIMIT_MS }).toBe(1);
  socket.terminate();
});
