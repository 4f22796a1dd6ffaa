/** Numbers below 1 that look random and are the same for the same seed. */
export function randomOf(seed) {
  let state = (seed * 0x9e3779b1) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const JOBS = ['print', 'print', 'echo', 'echo', 'terminal', 'kill', 'signal', 'timeout', 'read'];
const FAULTS = ['cut', 'cut', 'cut', 'stallToClient', 'stallToServer', 'refuse', 'freezeServer'];
/** These cost seconds each, because silence has to be noticed first: they are rarer. */
const SILENT_FAULTS = ['silentToServer', 'silentToClient'];
const SILENT_SHARE = 0.1;
const ABANDON_SHARE = 0.08;
const VICTIM_SHARE = 0.04;

/** Everything a scenario will do, from its seed alone. Only when exactly things meet is up to the machine. */
export function planOf(seed) {
  const random = randomOf(seed);
  const whole = (from, to) => from + Math.floor(random() * (to - from + 1));
  const pick = (list) => list[whole(0, list.length - 1)];
  const kind = random();
  /** @type {{ seed: number, jobs: object[], faults: object[] }} */
  const base = { seed, jobs: [], faults: [] };
  if (kind < VICTIM_SHARE) return { ...base, ending: 'clientKilled', killAfterMs: whole(0, 1500) };
  const plan = { ...base, ending: kind < VICTIM_SHARE + ABANDON_SHARE ? 'abandoned' : 'closed' };
  for (let left = whole(1, 3); left > 0; left -= 1) plan.jobs.push(jobOf(pick(JOBS), { random, whole }));
  for (let left = whole(0, 4); left > 0; left -= 1) {
    const silent = random() < SILENT_SHARE;
    // Half of the faults wait for output, so that they hit the middle of a message.
    const when = random() < 0.5 ? { afterBytes: whole(1, 60_000) } : { afterMs: whole(0, 400) };
    plan.faults.push({ kind: pick(silent ? SILENT_FAULTS : FAULTS), ...when, forMs: whole(5, 200) });
  }
  return plan;
}

export function jobOf(kind, { random, whole }) {
  switch (kind) {
    case 'files':
      return { kind, sizes: sizes(whole(1, 6), () => whole(0, 50_000)) };
    case 'attach':
      return { kind, count: whole(100, 30_000), rounds: whole(1, 3) };
    case 'print':
      return { kind, from: whole(1, 1000), count: random() < 0.2 ? whole(10_000, 150_000) : whole(0, 8000) };
    case 'echo':
      return { kind, pieces: sizes(whole(1, 25), () => whole(1, random() < 0.1 ? 40_000 : 400)) };
    case 'terminal':
      return { kind, pieces: sizes(whole(1, 8), () => whole(1, 300)), sizes: sizes(8, () => whole(2, 200)) };
    case 'kill':
      return { kind, afterMs: random() < 0.5 ? 0 : whole(1, 200), fromReady: random() < 0.7 };
    case 'timeout':
      return { kind, timeoutMs: whole(50, 400) };
    case 'fetch':
      return { kind, count: whole(1, 12) };
    case 'note':
      return { kind, pieces: sizes(whole(1, 12), () => whole(1, random() < 0.1 ? 20_000 : 400)) };
    case 'read':
      return { kind, count: whole(100, 20_000), reads: whole(1, 6) };
    default:
      return { kind };
  }
}

function sizes(count, next) {
  return Array.from({ length: count }, next);
}
