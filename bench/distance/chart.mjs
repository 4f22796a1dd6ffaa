import { number } from '../lib/table.mjs';
import { WORKS } from './works.mjs';

/** @typedef {import('./measure.mjs').Row} Row */

const PANEL = { width: 310, height: 190, left: 44, right: 12, top: 30, bottom: 28 };
const COLUMNS = 2;
const LEGEND_HEIGHT = 28;
/** Space above the slowest. */
const HEADROOM = 1.1;

/** Every subject keeps its colour in all panels; they hold their contrast on light and dark pages. */
const COLOURS = /** @type {const} */ ([
  ['execwire', '#0969da'],
  ['codex', '#bc4c00'],
  ['bare socket', '#848d97'],
  ['ssh', '#8250df'],
  ['scp', '#8250df'],
  ['tar | ssh', '#8250df'],
  ['ssh, warm', '#8250df'],
]);
const LEGEND = [
  ['execwire', '#0969da'],
  ['codex', '#bc4c00'],
  ['ssh, scp, tar | ssh', '#8250df'],
  ['bare socket', '#848d97'],
];
const STYLE = `
  text { font: 11px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 12px }
  .axis { stroke: #848d97; stroke-width: 1 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }`;

/** Time over distance on the fast line: one panel for each kind of work. @param {Row[]} rows */
export function distanceChart(rows) {
  const fastest = Math.max(...rows.map(({ line }) => line.mbitPerSecond));
  const fast = rows.filter(({ line }) => line.mbitPerSecond === fastest);
  const panels = WORKS.filter(({ name }) => fast.some(({ work }) => work === name));
  const width = PANEL.width * COLUMNS;
  const height = LEGEND_HEIGHT + PANEL.height * Math.ceil(panels.length / COLUMNS);
  const drawn = panels.map(({ name, title }, index) => {
    const x = (index % COLUMNS) * PANEL.width;
    const y = LEGEND_HEIGHT + Math.floor(index / COLUMNS) * PANEL.height;
    return `<g transform="translate(${x} ${y})">${panel(
      title,
      fast.filter(({ work }) => work === name),
    )}</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>Seconds over round-trip time at ${fastest} Mbit/s</title>`,
    `<style>${STYLE}\n</style>`,
    legend(),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

function legend() {
  const entries = LEGEND.map(([name, colour], index) => {
    const x = PANEL.left + index * 130;
    return `<rect x="${x}" y="8" width="14" height="4" fill="${colour}"/><text x="${x + 20}" y="14">${name}</text>`;
  });
  return entries.join('');
}

/** @param {string} title @param {Row[]} rows */
function panel(title, rows) {
  const shown = rows.filter(({ subject }) => COLOURS.some(([name]) => name === subject));
  const longest = Math.max(...shown.map(({ line }) => line.roundTripMs), 1);
  const most = Math.max(...shown.map(({ seconds }) => seconds)) * HEADROOM;
  const bottom = PANEL.height - PANEL.bottom;
  const x = (/** @type {number} */ ms) =>
    PANEL.left + (ms / longest) * (PANEL.width - PANEL.left - PANEL.right);
  const y = (/** @type {number} */ seconds) => bottom - (seconds / most) * (bottom - PANEL.top);
  const ticks = [...new Set(shown.map(({ line }) => line.roundTripMs))].map(
    (ms) => `<text x="${x(ms)}" y="${bottom + 16}" text-anchor="middle">${ms} ms</text>`,
  );
  const levels = [most / 2, most / HEADROOM].map(
    (seconds) =>
      `<text x="${PANEL.left - 6}" y="${y(seconds) + 4}" text-anchor="end">${number(Number(seconds.toPrecision(2)))} s</text>`,
  );
  const curves = COLOURS.map(([subject, colour]) => {
    const own = shown.filter((row) => row.subject === subject);
    const points = own.map(
      ({ line, seconds }) => `${x(line.roundTripMs).toFixed(1)},${y(seconds).toFixed(1)}`,
    );
    return points.length === 0
      ? ''
      : `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`;
  });
  const label = title.replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return [
    `<text class="title" x="${PANEL.left}" y="18">${label}</text>`,
    `<path class="axis" fill="none" d="M${PANEL.left} ${PANEL.top}V${bottom}H${PANEL.width - PANEL.right}"/>`,
    ...ticks,
    ...levels,
    ...curves,
  ].join('');
}
