// Plays scenarios against the built server and tells what broke.
//   node test/chaos/run.mjs [--from N] [--count N] [--concurrency N]
//   node test/chaos/run.mjs --seed N        one scenario, to look at a failure again
import { readdirSync } from 'node:fs';
import { planOf } from './plan.mjs';
import { play } from './scenario.mjs';
import { openSeeds } from './seeds.mjs';
import { SESSION_TTL_SECONDS, settles, Subject } from './subject.mjs';

/** What a server that has been busy may hold more than one that has not: caches of the runtime, nothing per session. */
const MEMORY_SLACK_BYTES = 24 * 1024 * 1024;
/** What must not be one more afterwards. */
const COUNTED = ['descriptors', 'children', 'timers', 'clientDescriptors'];
/** Leases end, trees die, sockets close: then everything must be as before. */
const SETTLE_LIMIT_MS = SESSION_TTL_SECONDS * 1000 + 15_000;
/** Touches everything once, so that what is opened for good is open before counting begins. */
const WARM_UP = {
  seed: 0,
  ending: 'closed',
  faults: [],
  jobs: [
    { kind: 'print', from: 1, count: 1000 },
    { kind: 'echo', pieces: [10] },
    { kind: 'terminal', pieces: [5], sizes: [30] },
    { kind: 'kill', afterMs: 0, fromReady: true },
    { kind: 'timeout', timeoutMs: 50 },
  ],
};

const { take, failed, run } = openSeeds({
  count: 5000,
  concurrency: 10,
  own: { death: { type: 'boolean' }, fleet: { type: 'boolean' } },
});
const subject = await Subject.start();
const aftermaths = [];
try {
  await (await play(WARM_UP, subject))();
  const before = await idle();
  await run(worker, async () => {
    for (const { plan, check } of aftermaths) await check().catch(failed(plan));
    await backTo(before).catch(failed({ seed: 'all' }));
  });
} finally {
  await subject.stop();
}

/** Plays one scenario after the other, on the server they all share. */
async function worker() {
  for (let [seed] = take(1); seed !== undefined && !subject.died; [seed] = take(1)) {
    const plan = planOf(seed);
    try {
      aftermaths.push({ plan, check: await play(plan, subject) });
    } catch (error) {
      failed(plan)(subject.died ? new Error(subject.died, { cause: error }) : error);
    }
  }
}

/** What the server holds when nobody uses it. */
async function idle() {
  await settles('the server is not idle', SETTLE_LIMIT_MS, async () => {
    const { timers } = await subject.holdings();
    return timers === 0 ? undefined : `${timers} timers`;
  });
  return await holdings();
}

async function holdings() {
  // Both ends: what a client keeps after it was closed is lost as well.
  return { ...(await subject.holdings()), clientDescriptors: readdirSync('/proc/self/fd').length };
}

async function backTo(before) {
  await settles('something was kept', SETTLE_LIMIT_MS, async () => {
    const now = await holdings();
    const same = COUNTED.every((name) => now[name] <= before[name]);
    const small = now.heldBytes <= before.heldBytes + MEMORY_SLACK_BYTES;
    return same && small ? undefined : `${JSON.stringify(now)} instead of ${JSON.stringify(before)}`;
  });
}
