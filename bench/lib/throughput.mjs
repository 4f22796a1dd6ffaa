import { once } from 'node:events';
import { spawnTracked } from './children.mjs';
import { interleave } from './interleave.mjs';
import { cpuSeconds } from './procfs.mjs';
import { requireAll, runOutput } from './processes.mjs';
import { median, rounded, sum } from './stats.mjs';

export const throughputMetrics = [
  { key: 'mbPerSecond', label: 'MB/s' },
  { key: 'cpuPerGb', label: 'server CPU s/GB' },
];

/**
 * Lets every subject move the same output in turns; each has `move()`, which resolves to `{seconds, cpu}`. `prepare` is called
 * before each of them.
 */
export async function measureThroughput(subjects, { byteCount, rounds }, prepare = () => {}) {
  const runs = await interleave(subjects, { rounds, warmUp: true }, (subject) => {
    prepare();
    return subject.move();
  });
  return subjects.map(({ name }) => ({
    subject: name,
    values: throughputOf(runs.get(name), byteCount),
    samples: rounds,
  }));
}

/** CPU comes in ticks of 10 ms, so it is summed over all rounds before it is divided. */
function throughputOf(runs, byteCount) {
  const megabytes = byteCount / 1e6;
  const values = { mbPerSecond: rounded(median(runs.map(({ seconds }) => megabytes / seconds))) };
  if (runs.every(({ cpu }) => cpu !== null)) {
    values.cpuPerGb = rounded((sum(runs.map(({ cpu }) => cpu)) / (runs.length * megabytes)) * 1000);
  }
  return values;
}

/** A server that runs the program for us. */
export function serverMover({ name, client, pid }, output) {
  const move = async () => {
    const before = cpuSeconds(pid);
    const seconds = await runOutput(client, output);
    return { seconds, cpu: cpuSeconds(pid) - before };
  };
  return { name, move };
}

/** The program as a child of ours, its output counted as it comes. */
export function bareMover({ name, argv, byteCount }) {
  const move = async () => {
    const begun = performance.now();
    const child = spawnTracked(argv, { stdio: ['ignore', 'pipe', 'ignore'] });
    let arrived = 0;
    child.stdout.on('data', (data) => {
      arrived += data.length;
    });
    await once(child, 'close');
    const seconds = (performance.now() - begun) / 1000;
    requireAll(arrived, byteCount);
    return { seconds, cpu: null };
  };
  return { name, move };
}
