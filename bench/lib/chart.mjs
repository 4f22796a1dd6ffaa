import { number } from './table.mjs';

/** What the chart shows of the results: one group of bars each. */
const GROUPS = [
  { case: 'echo', metric: 'p50', title: 'Echo, ms (shorter is better)' },
  { case: 'start', metric: 'p50', title: 'Start to closed of /bin/true, ms (shorter is better)' },
  { case: 'pipes', metric: 'mbPerSecond', title: 'Output on pipes, MB/s (longer is better)' },
  { case: 'pty', metric: 'mbPerSecond', title: 'Output on terminals, MB/s (longer is better)' },
  { case: 'crowd-100', metric: 'residentMb', title: 'Server with 100 processes, MB (shorter is better)' },
];

const WIDTH = 640;
const LABEL_WIDTH = 150;
const VALUE_WIDTH = 60;
const BAR_WIDTH = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
const BAR_STEP = 20;
const TITLE_HEIGHT = 26;
const GROUP_GAP = 14;
/** A bar is never thinner than this, so that the best one can still be seen. */
const LEAST_BAR = 2;

/** Colours that keep their contrast on a light and on a dark page. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 }
  .label { text-anchor: end }
  .execwire { fill: #0969da } .codex { fill: #bc4c00 } .bare { fill: #848d97 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .execwire { fill: #4493f8 } .codex { fill: #db6d28 }
  }`;

/** The headline numbers as horizontal bars, each group on its own scale. */
export function chart({ cases }) {
  const parts = [];
  let top = 0;
  for (const group of GROUPS) {
    const rows = rowsOf(group, cases);
    if (rows.length === 0) continue;
    parts.push(drawGroup(group.title, rows, top));
    top += TITLE_HEIGHT + rows.length * BAR_STEP + GROUP_GAP;
  }
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img">`;
  const label = '<title>Execwire, codex and the bare system compared</title>';
  return `${head}\n${label}\n<style>${STYLE}\n</style>\n${parts.join('\n')}\n</svg>\n`;
}

function rowsOf({ case: name, metric }, cases) {
  const rows = cases.find((each) => each.name === name)?.rows ?? [];
  return rows.map(({ subject, values }) => ({ subject, value: values[metric] }));
}

function drawGroup(title, rows, top) {
  const longest = Math.max(...rows.map(({ value }) => value));
  const bars = rows.map(({ subject, value }, index) => {
    const width = Math.max(LEAST_BAR, Math.round((value / longest) * BAR_WIDTH));
    return drawBar({ subject, value, width, y: top + TITLE_HEIGHT + index * BAR_STEP });
  });
  return [`<text class="title" x="0" y="${top + 16}">${title}</text>`, ...bars].join('\n');
}

function drawBar({ subject, value, width, y }) {
  return [
    `<text class="label" x="${LABEL_WIDTH - 8}" y="${y + 12}">${subject}</text>`,
    `<rect class="${ownerOf(subject)}" x="${LABEL_WIDTH}" y="${y + 1}" width="${width}" height="14" rx="2"/>`,
    `<text x="${LABEL_WIDTH + width + 6}" y="${y + 12}">${number(value)}</text>`,
  ].join('');
}

function ownerOf(subject) {
  const [first] = subject.split(' ');
  return first === 'execwire' || first === 'codex' ? first : 'bare';
}
