/** The part of a run that only warms up: caches fill, code is compiled. */
export const WARM_UP_SHARE = 0.25;
/** Growth up to this factor and this amount on top is no trend: the load itself goes up and down. */
const FACTOR = 1.1;

/** What is watched for a trend. `slack`: what may come on top whatever the level. */
export const METRICS = [
  { key: 'rss', label: 'resident memory', unit: 'MB', scale: 1e6, slack: 24e6 },
  { key: 'heldBytes', label: 'held after collection', unit: 'MB', scale: 1e6, slack: 8e6 },
  { key: 'descriptors', label: 'descriptors', unit: '', scale: 1, slack: 15 },
  { key: 'children', label: 'children', unit: '', scale: 1, slack: 8 },
  { key: 'timers', label: 'timers', unit: '', scale: 1, slack: 15 },
  { key: 'handles', label: 'handles', unit: '', scale: 1, slack: 15 },
];

/**
 * Compares the medians of the first and the last third of what follows the warm-up. A metric grows when the last is
 * above the first times 1.1 plus its slack.
 */
export function trendOf(samples, { key, slack }) {
  const counted = samples.slice(Math.ceil(samples.length * WARM_UP_SHARE));
  const third = Math.max(1, Math.floor(counted.length / 3));
  const first = median(counted.slice(0, third).map((sample) => sample[key]));
  const last = median(counted.slice(-third).map((sample) => sample[key]));
  return { first, last, grows: last > first * FACTOR + slack };
}

export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
