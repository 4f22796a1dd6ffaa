/** The value below which the given share of the samples lies (nearest rank). */
export function percentile(samples, share) {
  if (samples.length === 0) throw new Error('there are no samples');
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export function median(samples) {
  return percentile(samples, 0.5);
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** Three significant digits: more would only be noise. */
export function rounded(value) {
  return Number(value.toPrecision(3));
}

/** Calls `once` up to `count` times, stopping early when `budgetMs` is used up; resolves to milliseconds each. */
export async function repeat({ count, budgetMs }, once) {
  const samples = [];
  const end = performance.now() + budgetMs;
  do samples.push(await once());
  while (samples.length < count && performance.now() < end);
  return samples;
}
