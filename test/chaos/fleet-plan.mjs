import { jobOf, randomOf } from './plan.mjs';

const JOBS = ['print', 'print', 'echo', 'echo', 'terminal', 'kill', 'timeout'];
const FAULTS = [
  'killNode',
  'killNode',
  'stopNode',
  'killServer',
  'freezeServer',
  'killGateway',
  'killGateway',
  'stopGateway',
];
const CLIENT_SHARE = 0.08;
const GATEWAY_SHARE = 0.5;
/** A keeper gives up on a server that dies too often. */
const MAX_FAULTS = 3;

/** Everything a scenario in a fleet will do, from its seed alone. `way`: how its client reaches the machine. */
export function fleetPlanOf(seed) {
  const random = randomOf(seed);
  const whole = (from, to) => from + Math.floor(random() * (to - from + 1));
  const pick = (list) => list[whole(0, list.length - 1)];
  const kind = random();
  const way = random() < GATEWAY_SHARE ? 'gateway' : 'fleet';
  const faults = Array.from({ length: whole(1, MAX_FAULTS) }, () => {
    return { kind: pick(FAULTS), afterMs: whole(0, 600), forMs: whole(20, random() < 0.2 ? 4000 : 400) };
  });
  if (kind < CLIENT_SHARE) return { seed, ending: 'clientKilled', killAfterMs: whole(300, 1500), faults };
  const kinds = Array.from({ length: whole(1, 3) }, () => pick(JOBS));
  return { seed, ending: 'closed', way, faults, jobs: kinds.map((each) => jobOf(each, { random, whole })) };
}
