import { interleave } from './interleave.mjs';
import { percentile, rounded } from './stats.mjs';

/** What every latency case reports. */
export const latencyMetrics = [
  { key: 'p50', label: 'p50 ms' },
  { key: 'p99', label: 'p99 ms' },
];

/** Samples all subjects in turns; each has `sample(limits)`, which resolves to milliseconds. */
export async function measureLatency(subjects, { rounds, count, budgetMs }) {
  const batches = await interleave(subjects, { rounds, warmUp: true }, (subject) =>
    subject.sample({ count, budgetMs }),
  );
  return subjects.map(({ name }) => {
    const samples = batches.get(name).flat();
    return {
      subject: name,
      values: { p50: rounded(percentile(samples, 0.5)), p99: rounded(percentile(samples, 0.99)) },
      samples: samples.length,
    };
  });
}
