// The same work near and far, by execwire, codex, ssh and a bare socket. See README.md beside this file.
import { parseArgs } from 'node:util';
import { findCodex } from '../lib/codex.mjs';
import { runAndLeave } from '../lib/leave.mjs';
import { describeRun } from '../lib/machine.mjs';
import { createScratch } from '../lib/scratch.mjs';
import { UsageError } from '../lib/usage-error.mjs';
import { judge } from './goals.mjs';
import { ALL_LINES, lineName, SHORT_LINES } from './lines.mjs';
import { startMachines } from './machines.mjs';
import { measureLine } from './measure.mjs';
import { goalTable, memoryTable, timeTables, writeReport } from './report.mjs';
import { WORKS } from './works.mjs';

const USAGE = `usage: npm run bench:distance -- [--short] [--only WORK]... [--line MS]... [--rounds N] [--check] [--no-write]
  --short      lines of 0 and 80 ms at 1000 Mbit/s, one round; writes nothing
  --only WORK  ${WORKS.map(({ name }) => name).join(', ')}; may be repeated; writes nothing
  --line MS    only lines with this round trip; may be repeated; writes nothing
  --rounds N   how often each is measured; the median counts (3)
  --check      fail when a goal is missed, with some room
  --no-write   leave results.json, chart.svg and README.md as they are`;
/** Limits are this much wider in a check: it runs where other things run, and measures once. */
const CHECK_ROOM = 1.5;

async function main() {
  const options = parseOptions();
  const codex = findCodex();
  if (!codex) console.log('codex is not installed: its rows are left out. Set CODEX_BIN to compare.\n');
  const about = aboutRun(codex, options);
  const started = await startMachines({ codex });
  const folder = createScratch('distance');
  const rows = [];
  for (const line of options.lines) rows.push(...(await measureLine(line, { started, folder, ...options })));
  const verdicts = judge(rows, { room: options.check ? CHECK_ROOM : 1 });
  console.log(['', ...timeTables(rows), memoryTable(rows), goalTable(verdicts)].join('\n\n'));
  if (options.write) writeReport({ about, rows, verdicts });
  const missed = verdicts.filter(({ held }) => !held);
  console.log(`\nGoals: ${verdicts.length - missed.length} held, ${missed.length} missed.`);
  if (options.check && (missed.length > 0 || verdicts.length === 0)) process.exitCode = 1;
}

function parseOptions() {
  const flag = /** @type {const} */ ({ type: 'boolean' });
  const list = /** @type {const} */ ({ type: 'string', multiple: true });
  try {
    const { values } = parseArgs({
      options: {
        short: flag,
        only: list,
        line: list,
        rounds: { type: 'string' },
        check: flag,
        'no-write': flag,
      },
    });
    const { only = [], line = [] } = values;
    const short = values.short === true;
    const check = values.check === true;
    const wanted = line.map(Number);
    const lines = (short ? SHORT_LINES : ALL_LINES).filter(
      ({ roundTripMs }) => wanted.length === 0 || wanted.includes(roundTripMs),
    );
    if (lines.length === 0) throw new Error('There is no such line.');
    const unknown = only.find((each) => !WORKS.some(({ name }) => name === each));
    if (unknown) throw new Error(`There is no work ${unknown}.`);
    const rounds = Number(values.rounds ?? (short ? 1 : 3));
    // A part of the numbers must not stand beside older ones as if they came from one run.
    const write = !values['no-write'] && !short && only.length === 0 && wanted.length === 0;
    return { short, only, check, lines, rounds, write };
  } catch (error) {
    throw new UsageError(`${/** @type {Error} */ (error).message}\n${USAGE}`);
  }
}

/**
 * @param {{ path: string, version: string } | null} codex
 * @param {{ short: boolean, rounds: number, lines: import('./lines.mjs').Line[] }} options
 */
function aboutRun(codex, { short, rounds, lines }) {
  const { date, machine, versions } = describeRun({ codex, short });
  return (
    `${date}: execwire ${versions.execwire} on Node ${versions.node}, ${versions.codex ?? 'codex not installed'}; ` +
    `${machine.cores} cores of ${machine.cpu}, load ${machine.loadBefore} at the start; median of ${rounds} rounds ` +
    `on each of ${lines.length} lines, from ${lineName(lines[0])} to ${lineName(lines[lines.length - 1])}.`
  );
}

runAndLeave(main);
