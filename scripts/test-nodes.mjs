// Runs the contract, system and command line tests on every Node that people run, and says of each whether they pass.
//   --line N   only on that line of releases, such as 24
//   --newest   only on the newest of them
//   --short    only a small sample: the contract here and over a WebSocket, `execwire run`, the borders between the rooms
// Nodes come from npm, the newest release of each line, and are kept below node_modules/.cache.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const lines = [20, 22, 24, 26];
const whole = ['test/contract', 'test/system', 'test/cli'];
const sample = [
  'test/contract/environments.test.ts',
  'test/contract/websocket-wire.test.ts',
  'test/cli/run.test.ts',
  'test/layers.test.ts',
];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { values: options } = parseArgs({
  options: {
    line: { type: 'string', multiple: true },
    newest: { type: 'boolean' },
    short: { type: 'boolean' },
  },
});

const outcomes = chosen().map((line) => testOn(install(line)));
// What is built holds code for the V8 that built it. Leave that of the Node people use here.
run(process.execPath, ['scripts/build.mjs']);
for (const { version, passed, seconds } of outcomes) {
  console.log(`Node ${version}: ${passed ? 'passed' : 'FAILED'} in ${seconds} s`);
}
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;

function chosen() {
  if (options.newest) return lines.slice(-1);
  return options.line?.map(Number) ?? lines;
}

/** The newest Node of a line: its version, and the directory that holds `node`. */
function install(line) {
  const name = `node-${process.platform}-${process.arch}`;
  const home = join(root, 'node_modules', '.cache', 'nodes', `${line}`);
  mkdirSync(home, { recursive: true });
  // With a package.json of its own npm does not go looking for a project further up.
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n');
  const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const { status } = spawnSync('npm', ['install', `${name}@${line}`, ...quiet], {
    cwd: home,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`npm could not install ${name}@${line}.`);
  const installed = join(home, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  return { version, directory: join(installed, 'bin') };
}

function testOn({ version, directory }) {
  console.log(`\nNode ${version}`);
  const started = performance.now();
  const node = join(directory, 'node');
  // Programs that tests start by the name of `node` run on this one, too.
  const env = { ...process.env, PATH: [directory, process.env.PATH].join(delimiter) };
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...(options.short ? sample : whole)];
  const passed = run(node, ['scripts/build.mjs'], env) && run(node, vitest, env);
  return { version, passed, seconds: Math.round((performance.now() - started) / 1000) };
}

/** True if the program ended well. */
function run(program, args, env = process.env) {
  return spawnSync(program, args, { cwd: root, env, stdio: 'inherit' }).status === 0;
}
