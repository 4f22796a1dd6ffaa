import { describe, expect, test } from 'vitest';

type Row = {
  line: { roundTripMs: number; mbitPerSecond: number };
  work: string;
  subject: string;
  seconds: number;
};
type Verdict = { goal: string; reached: number; limit: number; held: boolean };

async function load<Module>(name: string): Promise<Module> {
  return (await import(new URL(`../../bench/distance/${name}`, import.meta.url).href)) as Module;
}
const { judge } = await load<{ judge: (rows: Row[], options?: { room?: number }) => Verdict[] }>('goals.mjs');

const row = (work: string, subject: string, seconds: number, roundTripMs = 80): Row => ({
  line: { roundTripMs, mbitPerSecond: 1000 },
  work,
  subject,
  seconds,
});

describe('the goals of distance', () => {
  test('count the round trips of a run beyond its time without delay', () => {
    const rows = [row('true', 'execwire', 0.1, 0), row('true', 'execwire', 0.42)];
    const [verdict] = judge(rows);
    expect(verdict?.reached).toBeCloseTo(4);
    expect(verdict?.held).toBe(false);
    expect(judge([row('true', 'execwire', 0.1, 0), row('true', 'execwire', 0.33)])[0]?.held).toBe(true);
  });

  test('hold a transfer against the bare socket and against codex', () => {
    const rows = [
      row('output', 'bare socket', 2),
      row('output', 'execwire', 2.4),
      row('output', 'codex', 2.3),
    ];
    expect(judge(rows).map(({ held }) => held)).toEqual([true, false]);
    expect(judge(rows, { room: 1.5 }).map(({ held }) => held)).toEqual([true, true]);
  });

  test('say nothing about what was not measured', () => {
    expect(judge([row('tree-up', 'execwire', 1)])).toEqual([]);
  });
});

test('the chart draws every kind of work that was measured', async () => {
  type Module = { distanceChart: (rows: Row[]) => string };
  const { distanceChart } = await load<Module>('chart.mjs');
  const rows = [0, 20, 80, 200].flatMap((ms) => [
    row('output', 'execwire', 1 + ms, ms),
    row('tree-up', 'tar | ssh', 2 + ms, ms),
  ]);
  const svg = distanceChart(rows);
  expect(svg.match(/<polyline/g)).toHaveLength(2);
  expect(svg.match(/class="title"/g)).toHaveLength(2);
  expect(svg).not.toContain('NaN');
});
