import { jobOf, randomOf } from './plan.mjs';

const JOBS = ['print', 'print', 'echo', 'echo', 'terminal', 'kill', 'timeout', 'files', 'attach'];
/** Under a policy: what a sandbox must pass on, too. */
const CONFINED_JOBS = ['print', 'echo', 'terminal', 'kill', 'timeout'];
const FAULTS = [
  'killServer',
  'killServer',
  'killServer',
  'upgrade',
  'upgrade',
  'cut',
  'refuse',
  'freezeServer',
  'freezeKeeper',
];
const CONFINED_SHARE = 0.3;
const KEEPER_SHARE = 0.06;
/** A keeper gives up on a server that dies too often. */
const MAX_FAULTS = 3;

/** Everything a scenario with death in it will do, from its seed alone. */
export function deathPlanOf(seed) {
  const random = randomOf(seed);
  const whole = (from, to) => from + Math.floor(random() * (to - from + 1));
  const pick = (list) => list[whole(0, list.length - 1)];
  if (random() < KEEPER_SHARE) return { seed, ending: 'keeperKilled', killAfterMs: whole(0, 500) };
  const confined = random() < CONFINED_SHARE;
  const kinds = Array.from({ length: whole(1, 3) }, () => pick(confined ? CONFINED_JOBS : JOBS));
  const faults = Array.from({ length: whole(1, MAX_FAULTS) }, () => {
    const when = random() < 0.5 ? { afterBytes: whole(1, 60_000) } : { afterMs: whole(0, 600) };
    return { kind: pick(FAULTS), ...when, forMs: whole(5, 200) };
  });
  return {
    seed,
    ending: 'closed',
    confined,
    jobs: kinds.map((kind) => jobOf(kind, { random, whole })),
    faults,
  };
}
