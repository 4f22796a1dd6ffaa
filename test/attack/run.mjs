// The long form of every attack: the same files as in the test suite, tried far more often.
//   node test/attack/run.mjs [--tries N] [--repeat N] [name…]      names: parts of file names, such as `escapes`
// Without --tries each attack chooses its own long form. Prints how often each was tried and how often the attacker got what
// it wanted, and fails if that is ever.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
/** What an attack that does not know better is tried: hundreds of times what the suite does. */
const LONG_TRIES = {
  'short-commands': 10_000,
  'cut-connections': 500,
  'kept-cuts': 500,
  'killed-servers': 100,
  'durable-kills': 20,
  'durable-upgrades': 100,
  'durable-upgrade-kills': 25,
  'ended-servers': 100,
  'kept-spool': 100,
  'kept-loops': 50_000,
  'copy-lies': 200_000,
  'hostile-output': 200_000,
  'mcp-door': 200,
  'door-secrets': 200,
  'placeholder-races': 100_000,
  'watch-storm': 50,
  'symlink-races': 20_000,
  'changes-races': 20_000,
  'many-processes': 100_000,
  exhaustion: 200,
};
const USUAL_TRIES = 1_000;

const { values, positionals } = parseArgs({
  options: { tries: { type: 'string' }, repeat: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const files = readdirSync(here)
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => positionals.length === 0 || positionals.some((part) => name.includes(part)))
  .sort();
if (files.length === 0) throw new Error('No attack has such a name.');

const folder = mkdtempSync(join(tmpdir(), 'execwire-attack-'));
let failed = 0;
/** @type {import('node:child_process').ChildProcess | undefined} */
let running;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.once(signal, () => void abandon());
try {
  for (const file of files)
    for (let left = Number(values.repeat); left > 0; left -= 1) failed += (await attack(file)) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${files.length} attacks, ${failed} not held back`);
process.exitCode = failed === 0 ? 0 : 1;

/** Lets the attack that runs clean up behind itself, as far as it can. */
async function abandon() {
  if (running?.exitCode === null && running.signalCode === null) {
    running.kill('SIGTERM');
    await once(running, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
  process.exit(1);
}

/** Runs one file and tells its counts. True if everything held. */
async function attack(file) {
  const name = file.replace(/\.test\.ts$/, '');
  const tally = join(folder, `${name}.tally`);
  const report = join(folder, `${name}.json`);
  rmSync(report, { force: true });
  const begun = Date.now();
  const args = ['vitest', 'run', `test/attack/${file}`, '--testTimeout=0', '--hookTimeout=0'];
  running = spawn('npx', [...args, '--reporter=json', `--outputFile=${report}`], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      EXECWIRE_ATTACK_TALLY: tally,
      EXECWIRE_ATTACK_TRIES: values.tries ?? String(LONG_TRIES[name] ?? USUAL_TRIES),
    },
  });
  const [code] = await once(running, 'exit');
  tell({ name, tally, report, code, seconds: (Date.now() - begun) / 1000 });
  return code === 0;
}

function tell({ name, tally, report, code, seconds }) {
  const verdict = code === 0 ? 'held' : 'NOT HELD';
  console.log(`${name}: ${verdict}, ${seconds.toFixed(1)} s`);
  for (const { attack, tries, successes } of countsIn(tally))
    console.log(`  ${attack}: ${tries} tries, ${successes} successes`);
  for (const { fullName, failureMessages } of testsIn(report).filter(({ status }) => status === 'failed'))
    console.log(
      `  failed: ${fullName}\n    ${failureMessages.join('\n').split('\n').slice(0, 30).join('\n    ')}`,
    );
  const passed = testsIn(report).filter(({ status }) => status === 'passed').length;
  console.log(`  ${passed} of ${testsIn(report).length} tests passed`);
}

/** What the attacks counted themselves, added up where they counted more than once. */
function countsIn(tally) {
  if (!existsSync(tally)) return [];
  const counts = new Map();
  for (const line of readFileSync(tally, 'utf8').trim().split('\n')) {
    const { attack, tries, successes } = JSON.parse(line);
    const known = counts.get(attack) ?? { attack, tries: 0, successes: 0 };
    counts.set(attack, { attack, tries: known.tries + tries, successes: known.successes + successes });
  }
  return [...counts.values()];
}

function testsIn(report) {
  if (!existsSync(report)) return [];
  return JSON.parse(readFileSync(report, 'utf8')).testResults.flatMap(
    ({ assertionResults }) => assertionResults,
  );
}
