import { parseArgs } from 'node:util';
import { cases } from '../cases/index.mjs';
import { SHORT } from './plans.mjs';
import { UsageError } from './usage-error.mjs';

const USAGE = `usage: npm run bench -- [--short] [--only NAME]... [--no-write] [--check]
  --short      fewer and smaller rounds
  --only NAME  one case, may be repeated; nothing is written. NAME: ${cases.map(({ name }) => name).join(', ')}
  --no-write   leave results.json, chart.svg and README.md as they are
  --check      fail when a ratio of budgets.json is missed, with some room, or could not be measured`;

export function parseOptions(args) {
  if (process.platform !== 'linux') throw new UsageError('The bench reads /proc and needs Linux.');
  const { only = [], short, check, 'no-write': noWrite } = parse(args);
  return {
    short,
    check,
    /** Cases nobody asked for. */
    left: only.length > 0 ? [] : SHORT.left,
    // A part of the numbers must not stand beside older ones as if they came from one run.
    write: !noWrite && only.length === 0,
    cases:
      only.length > 0 ? only.map(findCase) : cases.filter(({ name }) => !short || !SHORT.left.includes(name)),
  };
}

function parse(args) {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  const only = /** @type {const} */ ({ type: 'string', multiple: true });
  try {
    return parseArgs({ args, options: { short: flag, check: flag, 'no-write': flag, only } }).values;
  } catch (error) {
    throw new UsageError(`${/** @type {Error} */ (error).message}\n${USAGE}`);
  }
}

function findCase(wanted) {
  const found = cases.find(({ name }) => name === wanted);
  if (!found) throw new UsageError(`There is no case ${wanted}.\n${USAGE}`);
  return found;
}
