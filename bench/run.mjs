// Measures execwire, codex and the bare system in turns. See README.md beside this file.
import { checkBudgets } from './lib/budgets.mjs';
import { findCodex } from './lib/codex.mjs';
import { leave, runAndLeave } from './lib/leave.mjs';
import { describeRun } from './lib/machine.mjs';
import { parseOptions } from './lib/options.mjs';
import { FULL, SHORT } from './lib/plans.mjs';
import { budgetTable, caseSection, writeReport } from './lib/report.mjs';
import { createScratch } from './lib/scratch.mjs';
import { serverSubjects } from './lib/servers.mjs';

/** A check on a machine that does other things meanwhile has few samples: limits are this much wider there. */
const CHECK_ROOM = 1.5;
/** A check takes a minute; one that takes this long hangs, or the machine is no place to measure on. */
const CHECK_LIMIT_MS = 180_000;

async function main() {
  const options = parseOptions(process.argv.slice(2));
  const codex = findCodex();
  if (!codex) console.log('codex is not installed: its rows are left out. Set CODEX_BIN to compare.\n');
  if (options.check) endAfterLimit();
  const results = { ...describeRun({ codex, short: options.short }), cases: /** @type {object[]} */ ([]) };
  const context = createContext({ codex, short: options.short });
  for (const each of options.cases) results.cases.push(await runCase(each, context));
  const budgets = await settleBudgets({ results, context, options });
  console.log(`## Budgets\n\n${budgetTable(budgets)}\n`);
  if (options.write) writeReport(results, budgets);
  if (options.check) failOnMissed(budgets);
}

/** What was to be measured and could not be compared fails as well: a check that skips proves nothing. */
function failOnMissed(budgets) {
  for (const { verdict, subject, against, reason, ...budget } of budgets) {
    if (!['missed', 'not measured'].includes(verdict)) continue;
    console.error(`${verdict}: ${budget.case} ${budget.metric}, ${subject} against ${against}. ${reason}`);
    process.exitCode = 1;
  }
  const count = (wanted) => budgets.filter(({ verdict }) => verdict === wanted).length;
  const verdicts = ['held', 'missed', 'not measured', 'left out'];
  console.log(`Budgets: ${verdicts.map((verdict) => `${count(verdict)} ${verdict}`).join(', ')}.`);
}

function endAfterLimit() {
  const late = () => {
    console.error(`The check was not over after ${CHECK_LIMIT_MS / 1000} s.`);
    void leave(1);
  };
  setTimeout(late, CHECK_LIMIT_MS).unref();
}

function createContext({ codex, short }) {
  return {
    plan: short ? SHORT : FULL,
    scratch: createScratch('files'),
    servers: serverSubjects({ codex, codexHome: codex ? createScratch('codex') : '' }),
  };
}

async function runCase({ run, ...description }, context) {
  try {
    const result = { ...description, rows: await run(context) };
    console.log(`${caseSection(result)}\n`);
    return result;
  } catch (cause) {
    throw new Error(`${description.name}: ${/** @type {Error} */ (cause).message}`, { cause });
  }
}

/** A check measures what missed its budget once more: on a shared machine one bad minute proves nothing. */
async function settleBudgets({ results, context, options }) {
  const judgement = { room: options.check ? CHECK_ROOM : 1, left: options.short ? options.left : [] };
  const budgets = checkBudgets(results, judgement);
  const missed = new Set(budgets.filter(({ verdict }) => verdict === 'missed').map((budget) => budget.case));
  if (!options.check || missed.size === 0) return budgets;
  console.log(`Over budget, measured once more: ${[...missed].join(', ')}\n`);
  for (const each of options.cases.filter(({ name }) => missed.has(name))) {
    const index = results.cases.findIndex(({ name }) => name === each.name);
    results.cases[index] = await runCase(each, context);
  }
  return checkBudgets(results, judgement);
}

runAndLeave(main);
