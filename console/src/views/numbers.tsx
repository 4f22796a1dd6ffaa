import { bytes } from '../lib/format.js';
import type { Sample } from '../lib/machine.js';
import { Sparkline } from '../ui/sparkline.js';

interface Measure {
  readonly label: string;
  readonly of: (sample: Sample) => number | null;
  readonly text: (value: number) => string;
}

const MEASURES: readonly Measure[] = [
  {
    label: 'CPU load',
    of: ({ usage }) => usage?.loadAverage[0] ?? null,
    text: (value) => value.toFixed(2),
  },
  {
    label: 'Memory in use',
    of: ({ usage }) => (usage ? usage.memoryBytes - usage.availableBytes : null),
    text: bytes,
  },
  { label: 'Running processes', of: ({ running }) => running, text: String },
  {
    label: 'Output',
    of: ({ outputPerSecond }) => outputPerSecond,
    text: (value) => `${bytes(value)}/s`,
  },
  { label: 'Round trip', of: ({ rttMs }) => rttMs, text: (value) => `${value.toFixed(1)} ms` },
];

/** What was measured while this page was open, for up to an hour. */
export function Numbers({ samples }: { samples: readonly Sample[] }) {
  return (
    <div class="charts">
      {MEASURES.map((measure) => (
        <Chart measure={measure} samples={samples} key={measure.label} />
      ))}
    </div>
  );
}

function Chart({ measure, samples }: { measure: Measure; samples: readonly Sample[] }) {
  const points = samples.map((sample) => ({ atMs: sample.atMs, value: measure.of(sample) }));
  const value = points.at(-1)?.value ?? null;
  const text = value === null ? 'unknown' : measure.text(value);
  return (
    <div class="chart" role="img" aria-label={`${measure.label}: ${text}`}>
      <div class="chart-head">
        <span class="muted clip">{measure.label}</span>
        <strong>{text}</strong>
      </div>
      <Sparkline points={points} />
    </div>
  );
}
