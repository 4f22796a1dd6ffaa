interface Point {
  readonly atMs: number;
  /** What was measured, or null where nothing was. */
  readonly value: number | null;
}

const WIDTH = 300;
const HEIGHT = 44;

/** A line from the first point to the last one, above zero, broken where nothing was measured. */
export function Sparkline({ points }: { points: readonly Point[] }) {
  const runs = runsOf(thinned(points));
  const lines = runs.map((run) => `M${run.join('L')}`);
  const areas = runs.map((run) => {
    const [first = '', last = ''] = [run[0], run.at(-1)].map((place) => place?.split(',')[0]);
    return `M${first},${HEIGHT}L${run.join('L')}L${last},${HEIGHT}Z`;
  });
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="sparkline-area" d={areas.join('')} />
      <path class="sparkline-line" d={lines.join('')} />
    </svg>
  );
}

/** An hour of seconds is more than a chart has pixels: the highest value of each piece of time stands for it. */
function thinned(points: readonly Point[]): readonly Point[] {
  const pieceMs = Math.ceil(spanOf(points) / WIDTH / 1000) * 1000;
  const highest = new Map<number, Point>();
  for (const point of points) {
    const piece = Math.floor(point.atMs / pieceMs);
    const before = highest.get(piece);
    if (!before || (point.value ?? -1) > (before.value ?? -1)) highest.set(piece, point);
  }
  return [...highest.values()];
}

/** The places of points that follow each other without a gap. */
function runsOf(points: readonly Point[]): readonly string[][] {
  const startMs = points[0]?.atMs ?? 0;
  const perMs = WIDTH / spanOf(points);
  const top = Math.max(...points.map(({ value }) => value ?? 0)) * 1.15 || 1;
  const runs: string[][] = [[]];
  for (const { atMs, value } of points) {
    if (value === null) runs.push([]);
    else {
      const y = HEIGHT - (Math.max(value, 0) / top) * (HEIGHT - 6) - 2;
      runs.at(-1)?.push(`${((atMs - startMs) * perMs).toFixed(1)},${y.toFixed(1)}`);
    }
  }
  return runs.filter((run) => run.length > 0);
}

function spanOf(points: readonly Point[]): number {
  return Math.max((points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0), 1);
}
