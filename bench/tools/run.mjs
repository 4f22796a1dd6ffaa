// What everyday tasks cost a model, with our tools and with a naive one. See README.md beside this file.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LocalEnvironment } from '../../dist/environment/index.js';
import { NaiveTool } from './naive-tool.mjs';
import { OurTools } from './our-tools.mjs';
import { missedBudgets, resultTable, writeReport } from './report.mjs';
import { tasks } from './tasks/index.mjs';

const USAGE = `usage: npm run bench:tools -- [--check] [--only NAME]... [--no-write]
NAME: ${tasks.map(({ name }) => name).join(', ')}`;

async function main() {
  const { only = [], check, 'no-write': noWrite } = readOptions();
  const chosen = only.length > 0 ? only.map(findTask) : tasks;
  const environment = new LocalEnvironment();
  const scratch = mkdtempSync(join(tmpdir(), 'execwire-bench-'));
  try {
    const results = await measure(chosen, { environment, scratch });
    console.log(resultTable(results));
    const whole = only.length === 0;
    const missed = check ? missedBudgets(results, { whole }) : [];
    for (const sentence of missed) console.error(`missed: ${sentence}`);
    if (missed.length > 0) process.exitCode = 1;
    // A part of the numbers must not stand beside older ones as if they came from one run.
    if (whole && !noWrite && !check) writeReport(results);
  } finally {
    await environment.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

function readOptions() {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  const only = /** @type {const} */ ({ type: 'string', multiple: true });
  try {
    return parseArgs({ options: { check: flag, 'no-write': flag, only } }).values;
  } catch (error) {
    return fail(`${/** @type {Error} */ (error).message}\n${USAGE}`);
  }
}

function findTask(wanted) {
  return tasks.find(({ name }) => name === wanted) ?? fail(`There is no task ${wanted}.\n${USAGE}`);
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(2);
}

async function measure(chosen, context) {
  const rows = [];
  let definitions;
  for (const task of chosen) {
    const ours = await perform(task, 'ours', OurTools, context);
    const naive = await perform(task, 'naive', NaiveTool, context);
    rows.push({ name: task.name, title: task.title, ours: ours.entry, naive: naive.entry });
    definitions = { ours: { tokens: ours.definitionTokens }, naive: { tokens: naive.definitionTokens } };
    console.error(`${task.name}: ${ours.entry.tokens} tokens, naive ${naive.entry.tokens}`);
  }
  return { rows, definitions };
}

/** Does a task in a folder of its own, without the profile of whoever runs it, and checks the answer. */
async function perform(task, side, Tools, { environment, scratch }) {
  const folder = join(scratch, `${task.name}-${side}`);
  const home = join(scratch, 'home');
  for (const each of [folder, home]) mkdirSync(each, { recursive: true });
  const prepared = await task.prepare?.(folder);
  const tools = new Tools(environment, { home });
  const context = { folder, ...prepared };
  try {
    const answer = await task[side](tools, context);
    const entry = tools.ledger.entry();
    task.verify(answer, context);
    return { entry, definitionTokens: tools.definitionTokens };
  } catch (cause) {
    throw new Error(`${task.name}, ${side}: ${/** @type {Error} */ (cause).message}`, { cause });
  } finally {
    await tools.close();
  }
}

// What keeps the event loop alive here is nothing anybody waits for.
main().then(
  () => process.exit(process.exitCode ?? 0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
