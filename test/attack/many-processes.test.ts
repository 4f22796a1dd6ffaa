import { expect, test } from 'vitest';
import { dialWebSocket, RemoteEnvironment } from '../../src/client/index.js';
import type { Environment } from '../../src/contract/index.js';
import { ServerProcess } from '../../testkit/server-process.mjs';
import { ServerResources } from '../harness/server-resources.mjs';
import { inParallel } from './busy-machine.js';
import { limitMs, tally, tries } from './tally.js';

const PROCESSES = tries(1_000);
const WIDTH = 16;
const LIMIT_MS = limitMs(90_000);
/** Ended processes are remembered for half a minute, so that a late reader still finds them. */
const REMEMBERED_MS = 60_000;
/** So many at most; and what each may cost: a name, a few numbers and a few bytes of output. */
const REMEMBERED = 4_096;
const BYTES_EACH = 16 * 1024;
/** Caches of the runtime. */
const SLACK_BYTES = 24 * 1024 * 1024;

test(`${PROCESSES} processes in one session leave nothing in the server`, { timeout: LIMIT_MS }, async () => {
  using resources = new ServerResources();
  await using server = await ServerProcess.start({
    args: ['--log-level', 'silent', '--session-ttl', '1'],
    env: resources.env,
  });
  resources.pid = server.pid;
  await using environment = await RemoteEnvironment.connect({
    id: 'many',
    dial: () => dialWebSocket(server.url),
    resume: true,
  });
  const wrong: unknown[] = [];
  const endedAt: number[] = [];
  const run = async (index: number): Promise<void> => {
    const said = await say(environment, index).catch((error: unknown) => String(error));
    endedAt.push(Date.now());
    if (said !== String(index)) wrong.push({ index, said });
  };
  await inParallel({ count: 100, width: WIDTH }, run);
  const before = { ...(await resources.inside()), descriptors: resources.descriptors };
  let most = 0;
  await inParallel({ count: PROCESSES, width: WIDTH }, async (index) => {
    await run(index);
    if (index % 1000 === 0) most = Math.max(most, (await resources.inside()).heldBytes);
  });
  tally('processes in one session', { tries: PROCESSES, successes: wrong.length });
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(most - before.heldBytes).toBeLessThan(SLACK_BYTES + Math.min(PROCESSES, REMEMBERED) * BYTES_EACH);
  const listed = (await environment.list()).length;
  expect(listed).toBeLessThanOrEqual(endedAt.filter((at) => at > Date.now() - REMEMBERED_MS).length);
  await expect.poll(() => resources.descriptors, { timeout: 20_000 }).toBeLessThanOrEqual(before.descriptors);
  // The watchdog stays.
  await expect.poll(() => resources.children.length, { timeout: 20_000 }).toBeLessThanOrEqual(1);
  await environment.close();
  // With the session goes all that was remembered of it: nothing is waited for any more, and the memory is free again.
  await expect.poll(async () => (await resources.inside()).timers, { timeout: 60_000 }).toBe(0);
  expect((await resources.inside()).heldBytes - before.heldBytes).toBeLessThan(SLACK_BYTES);
});

async function say(environment: Environment, index: number): Promise<string> {
  const child = await environment.start({ argv: ['/bin/echo', String(index)], tty: index % 4 === 0 });
  return (await child.text()).trim();
}
