import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { bytes } from '../lib/format.js';
import type { Sample } from '../lib/machine.js';

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
    label: 'Output per second',
    of: ({ outputPerSecond }) => outputPerSecond,
    text: bytes,
  },
  { label: 'Round trip', of: ({ rttMs }) => rttMs, text: (value) => `${value.toFixed(1)} ms` },
];

/** What was measured while this page was open, for up to an hour. */
export default function Numbers({ samples }: { samples: readonly Sample[] }) {
  return (
    <div class="charts">
      {MEASURES.map((measure) => (
        <Chart measure={measure} samples={samples} key={measure.label} />
      ))}
    </div>
  );
}

function Chart({ measure, samples }: { measure: Measure; samples: readonly Sample[] }) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const data: uPlot.AlignedData = [
    samples.map(({ atMs }) => atMs / 1000),
    samples.map((sample) => measure.of(sample)),
  ];
  useEffect(() => {
    if (!host.current) return undefined;
    plot.current = new uPlot(settings(host.current.clientWidth), data, host.current);
    const observer = new ResizeObserver(([entry]) => {
      if (entry) plot.current?.setSize({ width: entry.contentRect.width, height: 44 });
    });
    observer.observe(host.current);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data), [samples]);
  const last = samples.at(-1);
  const value = last ? measure.of(last) : null;
  const text = value === null ? 'unknown' : measure.text(value);
  return (
    <div class="chart" role="img" aria-label={`${measure.label}: ${text}`}>
      <div class="chart-head">
        <span class="muted">{measure.label}</span>
        <strong>{text}</strong>
      </div>
      <div class="chart-plot" ref={host} aria-hidden="true" />
    </div>
  );
}

function settings(width: number): uPlot.Options {
  const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
  return {
    width,
    height: 44,
    legend: { show: false },
    cursor: { show: false },
    axes: [{ show: false }, { show: false }],
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(high * 1.15, 0.001)] } },
    padding: [4, 0, 2, 0],
    series: [{}, { stroke: accent, width: 1.5, fill: `${accent}22`, points: { show: false } }],
  };
}
