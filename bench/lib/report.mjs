import { readFileSync, writeFileSync } from 'node:fs';
import { chart } from './chart.mjs';
import { rounded } from './stats.mjs';
import { NOTHING, number, table } from './table.mjs';

const file = (name) => new URL(`../${name}`, import.meta.url);
const BEGIN = '<!-- results: written by npm run bench -->';
const END = '<!-- end of results -->';

/** One case as a heading, what it is, and a table: subjects down, metrics and ratios across. */
export function caseSection(result) {
  const { title, about, metrics, headline, baseline, rows } = result;
  const { label } = metrics.find(({ key }) => key === headline);
  const head = ['', ...metrics.map((metric) => metric.label), `${label} ÷ codex`];
  if (baseline) head.push(`÷ ${baseline}`);
  const lines = rows.map((row) => [
    row.subject,
    ...metrics.map(({ key }) => number(row.values[key])),
    ratio(row, counterpart(row, rows), headline),
    ...(baseline ? [ratio(row, find(rows, baseline), headline)] : []),
  ]);
  return `### ${title}\n\n${about}.\n\n${table(head, lines)}`;
}

/** Ours is compared with codex over the same transport; codex knows text frames alone. */
function counterpart({ subject }, rows) {
  if (!subject.startsWith('execwire ')) return undefined;
  return find(rows, subject.replace('execwire', 'codex').replace(' binary', ''));
}

function find(rows, name) {
  return rows.find(({ subject }) => subject === name);
}

function ratio(row, reference, key) {
  if (!reference || reference === row) return NOTHING;
  return `${number(rounded(row.values[key] / reference.values[key]))} ×`;
}

/** Each budget with what was measured, and the target it is on the way to. */
export function budgetTable(budgets) {
  const head = ['budget', 'against', 'limit', 'measured', 'verdict', 'target', 'reached'];
  return table(head, budgets.map(budgetRow));
}

function budgetRow({ subject, against, comparison, limit, ratio, verdict, target, reached, ...budget }) {
  return [
    `${budget.case} ${budget.metric}, ${subject}`,
    against,
    `${comparison} ${limit} ×`,
    ratio === null ? NOTHING : `${number(ratio)} ×`,
    verdict,
    target ? targetText(target) : NOTHING,
    reached ? `${number(reached.amount)} ${unitOf(target)}, ${reached.met ? 'met' : 'not yet'}` : NOTHING,
  ];
}

function targetText({ of, comparison, value, ...target }) {
  return `${comparison} ${value} ${unitOf({ of, ...target })}${of === 'difference' ? ' apart' : ''}`;
}

/** @param {{ of: string, unit?: string }} target */
function unitOf({ of, unit }) {
  return of === 'ratio' ? '×' : unit;
}

/** Writes results.json, chart.svg and the part of README.md between the markers. */
export function writeReport(results, budgets) {
  writeFileSync(file('results.json'), `${JSON.stringify({ ...results, budgets }, null, 2)}\n`);
  writeFileSync(file('chart.svg'), chart(results));
  const readme = readFileSync(file('README.md'), 'utf8');
  const [before, rest] = cut(readme, BEGIN);
  const [, after] = cut(rest, END);
  writeFileSync(file('README.md'), `${before}${BEGIN}\n\n${reportText(results, budgets)}\n\n${END}${after}`);
}

function cut(text, marker) {
  const at = text.indexOf(marker);
  if (at === -1) throw new Error(`bench/README.md lacks the line ${marker}`);
  return [text.slice(0, at), text.slice(at + marker.length)];
}

function reportText(results, budgets) {
  const sections = results.cases.map(caseSection);
  return [runLine(results), ...sections, '### Budgets', budgetTable(budgets)].join('\n\n');
}

function runLine({ date, short, machine, versions }) {
  const { cpu, cores, memoryGb, kernel, loadBefore } = machine;
  const peer = versions.codex ?? 'codex not installed';
  return (
    `${date}, ${short ? 'short run' : 'full run'}: execwire ${versions.execwire} on Node ${versions.node}, ${peer}; ` +
    `${cores} cores of ${cpu}, ${memoryGb} GB, ${kernel}, load ${loadBefore} at the start.`
  );
}
