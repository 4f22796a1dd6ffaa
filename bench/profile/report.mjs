import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { describeRun } from '../lib/machine.mjs';
import { rounded, sum } from '../lib/stats.mjs';
import { NOTHING, number, table } from '../lib/table.mjs';
import { worthRows } from './areas.mjs';

const README = new URL('README.md', import.meta.url);
/** More names say nothing more: the rest are calls made a few times. */
const MAX_CALLS = 8;
const MAX_FUNCTIONS = 8;
/** Units up to this many milliseconds are told in microseconds. */
const SMALL_MS = 1;

/** What was found about one case: the summary, who used the CPU, and where the profiled process spent its time. */
export function sectionOf(result) {
  const parts = [`${result.about}: ${result.summary}.`];
  if (result.consumption) parts.push(consumptionTable(result), coresLine(result));
  if (result.bare) parts.push(`${result.bare.name}, the same bytes: ${result.bare.summary}.`);
  if (result.bare) parts.push(consumptionTable(result.bare), coresLine(result.bare));
  parts.push(areaTable(result), `${sleepLine(result)} ${functionList(result)}`);
  if (result.calls) parts.push(callTable(result));
  return parts.join('\n\n');
}

function consumptionTable({ consumption, unit }) {
  const roles = consumption.roles();
  const scale = scaleOf(Math.max(...roles.map(({ user, system }) => user + system)));
  const head = ['CPU', ...['user', 'kernel', 'together'].map((part) => `${part} ${scale.name}/${unit.name}`)];
  const line = ({ role, user, system }) => [role, ...[user, system, user + system].map(scale.text)];
  return table(head, roles.map(line));
}

function coresLine({ consumption, unit }) {
  const { busy, amountPerCoreSecond } = consumption.cores();
  const count = cpus().length;
  const kept = `Together they kept ${number(rounded(busy))} of ${count} cores busy.`;
  if (unit.name !== 'GB') return kept;
  const most = number(rounded(amountPerCoreSecond * count * 1000));
  return `${kept} At that cost ${count} cores without a pause move ${most} MB/s.`;
}

/** The shares are those of the profile; a unit of work is given what it costs when nobody watches. */
function areaTable({ areas, unit, consumption }) {
  const rows = worthRows(areas);
  const total = sum(rows.map(({ ms }) => ms));
  const unitMs = consumption ? consumption.perUnitMs('server') : total;
  const scale = scaleOf(unitMs);
  const line = (area, ms) => [
    area,
    number(rounded(ms)),
    share(ms, total),
    scale.text((ms / (total || 1)) * unitMs),
  ];
  const head = ['area', 'ms', 'share', `${scale.name}/${unit.name}`];
  return table(head, [...rows.map(({ area, ms }) => line(area, ms)), line('together', total)]);
}

function functionList({ functions }) {
  const named = functions.filter(({ name }) => !name.startsWith('('));
  const texts = named.slice(0, MAX_FUNCTIONS).map(({ name, ms }) => `${name} ${number(rounded(ms))} ms`);
  return `Functions with the most time of their own: ${texts.join(', ')}.`;
}

function sleepLine({ wallMs, sleptMs, queuedMs }) {
  const ms = (value) => `${number(rounded(value))} ms`;
  const queued = queuedMs === undefined ? '' : ` and waited ${ms(queuedMs)} for a core`;
  return `In ${ms(wallMs)} under the profiler it slept ${ms(sleptMs)}${queued}.`;
}

function callTable({ calls, unit }) {
  const rows = calls
    .slice(0, MAX_CALLS)
    .map(({ name, calls: count, errors }) => [
      name,
      number(count),
      number(errors),
      number(rounded(count / unit.amount)),
    ]);
  return table(['system call', 'calls', 'failed', `calls/${unit.name}`], rows);
}

function scaleOf(ms) {
  return ms < SMALL_MS
    ? { name: 'µs', text: (value) => number(rounded(value * 1000)) }
    : { name: 'ms', text: (value) => number(rounded(value)) };
}

function share(ms, total) {
  return total > 0 ? `${((ms / total) * 100).toFixed(1)} %` : NOTHING;
}

/** Puts a section between the markers of its case in README.md, with date and machine. */
export function writeSection(name, section, { short }) {
  const text = readFileSync(README, 'utf8');
  const begin = `<!-- ${name}: written by npm run bench:profile -->`;
  const end = `<!-- end of ${name} -->`;
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`bench/profile/README.md lacks the markers of ${name}.`);
  const filled = `${begin}\n\n${section}\n\n${machineLine({ short })}\n\n`;
  writeFileSync(README, text.slice(0, from) + filled + text.slice(to));
}

function machineLine({ short }) {
  const { date, machine, versions } = describeRun({ codex: null, short });
  const { cores, cpu, kernel, loadBefore } = machine;
  const length = short ? ', short' : '';
  return `${date}${length}, Node ${versions.node}, ${cores} cores of ${cpu}, ${kernel}, load ${loadBefore}.`;
}
