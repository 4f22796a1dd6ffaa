// Plays scenarios in a fleet whose NATS nodes, machines, clients and gateways are killed, stopped and started again.
//   node test/chaos/fleet.mjs [--from N] [--count N] [--concurrency N]
//   node test/chaos/fleet.mjs --seed N        one scenario, to look at a failure again
import { fleetPlanOf } from './fleet-plan.mjs';
import { FLEET_TTL_SECONDS, FleetSubject } from './fleet-subject.mjs';
import { playOn } from './scenario.mjs';
import { openSeeds, playInTurn } from './seeds.mjs';

/** A keeper allows a server so many deaths in a minute, and each scenario has up to three. */
const SCENARIOS_PER_FLEET = 5;

const { take, failed, run } = openSeeds({ count: 200, concurrency: 2, own: { fleet: { type: 'boolean' } } });
await run(worker);

/** Uses one fleet for a few scenarios, then another. */
async function worker() {
  for (let isOver = false; !isOver; ) {
    const plans = take(SCENARIOS_PER_FLEET).map(fleetPlanOf);
    isOver = plans.length < SCENARIOS_PER_FLEET;
    if (plans.length > 0) await inOneFleet(plans);
  }
}

async function inOneFleet(plans) {
  const subject = await FleetSubject.start();
  const play = (plan) => {
    const line = {
      url: subject.gatewayUrl,
      dial: () => subject.dial(plan.way),
      ttlSeconds: FLEET_TTL_SECONDS,
    };
    return playOn(line, plan, subject);
  };
  await playInTurn(plans, subject, { play, failed });
}
