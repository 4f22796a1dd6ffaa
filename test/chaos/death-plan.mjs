import { jobOf, randomOf } from './plan.mjs';

const JOBS = ['print', 'print', 'echo', 'echo', 'terminal', 'kill', 'timeout', 'files', 'attach'];
/** Under a policy: what a sandbox must pass on, too. */
const CONFINED_JOBS = ['print', 'echo', 'terminal', 'kill', 'timeout', 'attach'];
/** By what is around the programs, and how often. */
const SURROUNDINGS = [
  { around: 'nothing', share: 0.6, jobs: JOBS },
  { around: 'sandbox', share: 0.24, jobs: CONFINED_JOBS },
  { around: 'rules', share: 0.08, jobs: ['fetch', 'echo'] },
  { around: 'held', share: 0.08, jobs: ['note', 'echo', 'terminal'] },
];
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
const KEEPER_SHARE = 0.06;
const CLIENT_SHARE = 0.04;
const ABANDON_SHARE = 0.05;
/** A keeper gives up on a server that dies too often. */
const MAX_FAULTS = 3;

/** Everything a scenario with death in it will do, from its seed alone. */
export function deathPlanOf(seed) {
  const random = randomOf(seed);
  const whole = (from, to) => from + Math.floor(random() * (to - from + 1));
  const pick = (list) => list[whole(0, list.length - 1)];
  const kind = random();
  if (kind < KEEPER_SHARE) return { seed, ending: 'keeperKilled', killAfterMs: whole(0, 500) };
  const { around, jobs } = surroundings(random());
  const kinds = Array.from({ length: whole(1, 3) }, () => pick(jobs));
  const faults = Array.from({ length: whole(1, MAX_FAULTS) }, () => {
    const when = random() < 0.5 ? { afterBytes: whole(1, 60_000) } : { afterMs: whole(0, 600) };
    return { kind: pick(FAULTS), ...when, forMs: whole(5, 200) };
  });
  if (kind < KEEPER_SHARE + CLIENT_SHARE)
    return { seed, ending: 'clientKilled', killAfterMs: whole(0, 1500), faults };
  return {
    seed,
    ending: kind < KEEPER_SHARE + CLIENT_SHARE + ABANDON_SHARE ? 'abandoned' : 'closed',
    around,
    jobs: kinds.map((kind) => jobOf(kind, { random, whole })),
    faults,
  };
}

function surroundings(chance) {
  let left = chance;
  return SURROUNDINGS.find(({ share }) => (left -= share) < 0) ?? SURROUNDINGS[0];
}
