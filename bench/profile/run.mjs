// Shows where the time of a case goes. See README.md beside this file.
import { parseArgs } from 'node:util';
import { endAllChildren, killAllChildren } from '../lib/children.mjs';
import { createScratch, removeScratch } from '../lib/scratch.mjs';
import { UsageError } from '../lib/usage-error.mjs';
import { cases } from './cases.mjs';
import { openModules } from './modules.mjs';
import { sectionOf, writeSection } from './report.mjs';
import { canTrace } from './system-calls.mjs';

const USAGE = `usage: npm run bench:profile -- [NAME]... [--short] [--syscalls] [--write]
  NAME        ${cases.map(({ name }) => name).join(', ')}; all of them without one
  --short     little work: a quick look
  --syscalls  count system calls as well, where strace is installed
  --write     put what was found into bench/profile/README.md`;
const INTERRUPTED = 130;

async function main() {
  const { chosen, short, syscalls, write } = readOptions();
  const context = { short, syscalls, moduleOf: await openModules(), scratch: createScratch('profile') };
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
    throw new UsageError(`${error.message}\n${USAGE}`);
  }
}

function findCase(wanted) {
  const found = cases.find(({ name }) => name === wanted);
  if (!found) throw new UsageError(`There is no case ${wanted}.\n${USAGE}`);
  return found;
}

process.once('exit', () => {
  killAllChildren();
  removeScratch();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => void leave(INTERRUPTED));

async function leave(code) {
  await endAllChildren();
  process.exit(code);
}

main().then(
  () => leave(0),
  (error) => {
    console.error(error instanceof UsageError ? error.message : error);
    return leave(error instanceof UsageError ? 2 : 1);
  },
);
