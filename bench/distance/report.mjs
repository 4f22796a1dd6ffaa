import { readFileSync, writeFileSync } from 'node:fs';
import { rounded } from '../lib/stats.mjs';
import { NOTHING, number, table } from '../lib/table.mjs';
import { distanceChart } from './chart.mjs';
import { lineName } from './lines.mjs';
import { WORKS } from './works.mjs';

const BEGIN = '<!-- results: written by npm run bench:distance -->';
const END = '<!-- end of results -->';
const file = (/** @type {string} */ name) => new URL(name, import.meta.url);

/** @typedef {import('./measure.mjs').Row} Row */

/** One table per kind of work: subjects down, lines across, seconds in the cells. @param {Row[]} rows */
export function timeTables(rows) {
  return WORKS.filter(({ name }) => rows.some(({ work }) => work === name)).map(({ name, title }) => {
    const own = rows.filter(({ work }) => work === name);
    const lines = distinct(own.map(({ line }) => lineName(line)));
    const body = distinct(own.map(({ subject }) => subject)).map((subject) => [
      subject,
      ...lines.map((line) => number(find(own, subject, line)?.seconds)),
    ]);
    return `### ${title}, seconds\n\n${table(['', ...lines], body)}`;
  });
}

/** The peak of both ends, in MB, over all lines. @param {Row[]} rows */
export function memoryTable(rows) {
  const measured = rows.filter(({ serverMb }) => serverMb !== undefined);
  const works = distinct(measured.map(({ work }) => work));
  const most = (/** @type {Row[]} */ own, /** @type {'clientMb' | 'serverMb'} */ key) =>
    own.length === 0 ? NOTHING : number(Math.max(...own.map((row) => row[key] ?? 0)));
  const body = distinct(measured.map(({ subject }) => subject)).flatMap((subject) =>
    /** @type {const} */ (['clientMb', 'serverMb']).map((key) => [
      `${subject === 'codex' && key === 'clientMb' ? 'execwire, towards codex' : subject}, ${key === 'clientMb' ? 'client' : 'server'}`,
      ...works.map((work) =>
        most(
          measured.filter((row) => row.subject === subject && row.work === work),
          key,
        ),
      ),
    ]),
  );
  return `### Memory\n\nThe most either end had resident on any of the lines, in MB.\n\n${table(['', ...works], body)}`;
}

/** @param {import('./goals.mjs').Verdict[]} verdicts */
export function goalTable(verdicts) {
  const body = verdicts.map(({ goal, reached, limit, held }) => [
    goal,
    number(rounded(reached)),
    number(rounded(limit)),
    held ? 'held' : 'missed',
  ]);
  return `### Goals at 80 ms\n\n${table(['', 'measured', 'at most', 'verdict'], body)}`;
}

/**
 * Writes results.json, chart.svg and the part of README.md between the markers.
 * @param {{ about: string, rows: Row[], verdicts: import('./goals.mjs').Verdict[] }} results
 */
export function writeReport({ about, rows, verdicts }) {
  writeFileSync(file('results.json'), `${JSON.stringify({ about, rows, goals: verdicts }, null, 2)}\n`);
  writeFileSync(file('chart.svg'), distanceChart(rows));
  const readme = readFileSync(file('README.md'), 'utf8');
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin === -1 || end === -1)
    throw new Error(`bench/distance/README.md lacks the lines ${BEGIN} and ${END}`);
  const text = [about, ...timeTables(rows), memoryTable(rows), goalTable(verdicts)].join('\n\n');
  writeFileSync(file('README.md'), `${readme.slice(0, begin)}${BEGIN}\n\n${text}\n\n${readme.slice(end)}`);
}

/** @param {Row[]} rows @param {string} subject @param {string} line */
function find(rows, subject, line) {
  return rows.find((row) => row.subject === subject && lineName(row.line) === line);
}

/** @param {string[]} values */
const distinct = (values) => [...new Set(values)];
