const WIDTH = 640;
const LEFT = 48;
const RIGHT = 12;
const PANEL_HEIGHT = 150;
const PANEL_TOP = 44;
const PANEL_GAP = 40;

const PANELS = [
  {
    title: 'Memory, MB',
    scale: 1e6,
    lines: [
      { key: 'rss', label: 'resident', style: 'first' },
      { key: 'heldBytes', label: 'held after collection', style: 'second' },
    ],
  },
  {
    title: 'Count',
    scale: 1,
    lines: [
      { key: 'descriptors', label: 'descriptors', style: 'first' },
      { key: 'children', label: 'children', style: 'second' },
      { key: 'timers', label: 'timers', style: 'third' },
    ],
  },
];

/** Colours that keep their contrast on a light and on a dark page. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 } .tick { fill: #59636e } .y { text-anchor: end } .x { text-anchor: middle }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  polyline { fill: none; stroke-width: 1.5; stroke-linejoin: round }
  .first { stroke: #0969da } .second { stroke: #bc4c00 } .third { stroke: #848d97 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .tick { fill: #9198a1 } .grid { stroke: #3d444d }
    .first { stroke: #4493f8 } .second { stroke: #db6d28 }
  }`;

/** Memory and counts over time, one panel each. */
export function plot(samples) {
  const height = PANELS.length * (PANEL_TOP + PANEL_HEIGHT + PANEL_GAP) - PANEL_GAP + 24;
  const lastSecond = Math.max(1, ...samples.map(({ seconds }) => seconds));
  const panels = PANELS.map((panel, index) => {
    const top = index * (PANEL_TOP + PANEL_HEIGHT + PANEL_GAP);
    return drawPanel(panel, { samples, lastSecond, top });
  });
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`;
  const title = '<title>What the server held over time</title>';
  return `${head}\n${title}\n<style>${STYLE}\n</style>\n${panels.join('\n')}\n</svg>\n`;
}

function drawPanel({ title, scale, lines }, { samples, lastSecond, top }) {
  const highest = Math.max(...lines.flatMap(({ key }) => samples.map((sample) => sample[key] / scale)));
  const step = niceStep(highest / 3);
  const ceiling = Math.max(step, Math.ceil(highest / step) * step);
  const bottom = top + PANEL_TOP + PANEL_HEIGHT;
  const x = (seconds) => LEFT + (seconds / lastSecond) * (WIDTH - LEFT - RIGHT);
  const y = (value) => bottom - (value / ceiling) * PANEL_HEIGHT;
  return [
    `<text class="title" x="0" y="${top + 14}">${title}</text>`,
    legend(lines, top + 32),
    ...ticks(ceiling, step).map((value) => horizontal(value, y(value))),
    ...ticks(lastSecond, niceStep(lastSecond / 6)).map((value) => secondsMark(value, x(value), bottom)),
    ...lines.map(({ key, style }) => {
      const points = samples.map((sample) => `${fixed(x(sample.seconds))},${fixed(y(sample[key] / scale))}`);
      return `<polyline class="${style}" points="${points.join(' ')}"/>`;
    }),
  ].join('\n');
}

function legend(lines, y) {
  let x = LEFT;
  return lines
    .map(({ label, style }) => {
      const mark = `<polyline class="${style}" points="${x},${y - 4} ${x + 18},${y - 4}"/>`;
      const text = `<text x="${x + 24}" y="${y}">${label}</text>`;
      x += 24 + label.length * 7 + 20;
      return mark + text;
    })
    .join('\n');
}

function horizontal(value, y) {
  const line = `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${fixed(y)}" y2="${fixed(y)}"/>`;
  return `${line}<text class="tick y" x="${LEFT - 6}" y="${fixed(y + 4)}">${value}</text>`;
}

function secondsMark(value, x, bottom) {
  return `<text class="tick x" x="${fixed(x)}" y="${bottom + 16}">${value} s</text>`;
}

function ticks(upTo, step) {
  return Array.from({ length: Math.floor(upTo / step + 1e-9) + 1 }, (_, index) => index * step);
}

/** 1, 2 or 5 times a power of ten, and at least 1. */
function niceStep(raw) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, raw)));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
}

function fixed(value) {
  return value.toFixed(1);
}
