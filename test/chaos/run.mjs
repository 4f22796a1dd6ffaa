// Plays scenarios against the built server and tells what broke.
//   node test/chaos/run.mjs [--from N] [--count N] [--concurrency N]
//   node test/chaos/run.mjs --seed N        one scenario, to look at a failure again
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { planOf } from './plan.mjs';
import { play } from './scenario.mjs';
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

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '5000' },
    concurrency: { type: 'string', default: '10' },
    seed: { type: 'string' },
    death: { type: 'boolean' },
  },
});
const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.count) : 1;
const seeds = Array.from({ length: count }, (_, index) => from + index);

const failures = [];
const aftermaths = [];
const begun = Date.now();
const subject = await Subject.start();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void subject.stop().then(() => process.exit(1)));
}
try {
  await (await play(WARM_UP, subject))();
  const before = await idle();
  const queue = seeds.values();
  await Promise.all(Array.from({ length: Number(values.concurrency) }, () => worker(queue)));
  for (const { plan, check } of aftermaths) await check().catch((error) => failed(plan, error));
  await backTo(before).catch((error) => failed({ seed: 'all' }, error));
} finally {
  await subject.stop();
}
const seconds = ((Date.now() - begun) / 1000).toFixed(1);
console.log(`${count} scenarios from seed ${from}, ${failures.length} failed, ${seconds} s`);
process.exitCode = failures.length === 0 ? 0 : 1;

async function worker(queue) {
  for (const seed of queue) {
    const plan = planOf(seed);
    try {
      if (subject.died) throw new Error(subject.died);
      aftermaths.push({ plan, check: await play(plan, subject) });
    } catch (error) {
      failed(plan, error);
      if (subject.died) return;
    }
  }
}

function failed(plan, error) {
  failures.push(plan.seed);
  console.error(
    `seed ${plan.seed} failed: ${error.message}\n  plan: ${JSON.stringify(plan)}\n  ${error.stack}`,
  );
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
