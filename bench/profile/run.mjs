// Shows where the time of a case goes. See README.md beside this file.
import { parseArgs } from 'node:util';
import { runAndLeave } from '../lib/leave.mjs';
import { createScratch } from '../lib/scratch.mjs';
import { UsageError } from '../lib/usage-error.mjs';
import { cases } from './cases.mjs';
import { openOrigins } from './origins.mjs';
import { sectionOf, writeSection } from './report.mjs';
import { canTrace } from './system-calls.mjs';

const USAGE = `usage: npm run bench:profile -- [NAME]... [--short] [--syscalls] [--write]
  NAME        ${cases.map(({ name }) => name).join(', ')}; all of them without one
  --short     little work: a quick look
  --syscalls  count system calls as well, where strace is installed
  --write     put what was found into bench/profile/README.md`;

async function main() {
  const { chosen, short, syscalls, write } = readOptions();
  const context = { short, syscalls, originOf: await openOrigins(), scratch: createScratch('profile') };
  for (const { name, profile } of chosen) {
    const section = sectionOf(await profile(context));
    console.log(`### ${name}\n\n${section}\n`);
    if (write) writeSection(name, section, { short });
  }
}

function readOptions() {
  if (process.platform !== 'linux') throw new UsageError('Profiles read /proc and need Linux.');
  const { values, positionals } = parse();
  const chosen = positionals.length > 0 ? positionals.map(findCase) : cases;
  if (values.syscalls && !canTrace()) throw new UsageError('strace is not installed: leave out --syscalls.');
  return { chosen, ...values };
}

function parse() {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  try {
    return parseArgs({ allowPositionals: true, options: { short: flag, syscalls: flag, write: flag } });
  } catch (error) {
    throw new UsageError(`${/** @type {Error} */ (error).message}\n${USAGE}`);
  }
}

function findCase(wanted) {
  const found = cases.find(({ name }) => name === wanted);
  if (!found) throw new UsageError(`There is no case ${wanted}.\n${USAGE}`);
  return found;
}

runAndLeave(main);
