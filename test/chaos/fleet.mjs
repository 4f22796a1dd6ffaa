// Plays scenarios in a fleet whose NATS nodes, machines, clients and gateways are killed, stopped and started again.
//   node test/chaos/fleet.mjs [--from N] [--count N] [--concurrency N]
//   node test/chaos/fleet.mjs --seed N        one scenario, to look at a failure again
import { parseArgs } from 'node:util';
import { fleetPlanOf } from './fleet-plan.mjs';
import { FLEET_TTL_SECONDS, FleetSubject } from './fleet-subject.mjs';
import { playOn } from './scenario.mjs';

/** A keeper allows a server so many deaths in a minute, and each scenario has up to three. */
const SCENARIOS_PER_FLEET = 5;

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    count: { type: 'string', default: '200' },
    concurrency: { type: 'string', default: '2' },
    seed: { type: 'string' },
    fleet: { type: 'boolean' },
  },
});
const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.count) : 1;
const queue = Array.from({ length: count }, (_, index) => from + index).values();
const failures = [];
const begun = Date.now();
process.setMaxListeners(0);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

await Promise.all(Array.from({ length: Number(values.concurrency) }, worker));
const seconds = ((Date.now() - begun) / 1000).toFixed(1);
console.log(`${count} scenarios from seed ${from}, ${failures.length} failed, ${seconds} s`);
process.exitCode = failures.length === 0 ? 0 : 1;

/** Uses one fleet for a few scenarios, then another. */
async function worker() {
  for (let isOver = false; !isOver; ) {
    const plans = [];
    for (const seed of queue) if (plans.push(fleetPlanOf(seed)) === SCENARIOS_PER_FLEET) break;
    isOver = plans.length < SCENARIOS_PER_FLEET;
    if (plans.length > 0) await inOneFleet(plans);
  }
}

async function inOneFleet(plans) {
  const subject = await FleetSubject.start();
  const checks = [];
  for (const plan of plans) {
    try {
      if (subject.died) throw new Error(subject.died);
      const line = {
        url: subject.gatewayUrl,
        dial: () => subject.dial(plan.way),
        ttlSeconds: FLEET_TTL_SECONDS,
      };
      checks.push(await playOn(line, plan, subject));
    } catch (error) {
      failed(plan)(error);
    }
  }
  for (const check of checks) await check().catch(failed({ seeds: plans.map(({ seed }) => seed) }));
  await subject.stop().catch(failed({ seeds: plans.map(({ seed }) => seed) }));
}

function failed(plan) {
  return (error) => {
    failures.push(plan.seed ?? plan.seeds);
    console.error(
      `seed ${plan.seed ?? plan.seeds} failed: ${error.message}\n  plan: ${JSON.stringify(plan)}\n  ${error.stack}`,
    );
  };
}
