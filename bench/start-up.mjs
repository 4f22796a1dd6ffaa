// What V8's code saves at the start of `execwire run -- true`: the code that the build records, and on Node 22.1 or later
// the one Node keeps itself. Ways to start take turns, so that a busy machine is unfair to all of them alike.
//   npm run build && node bench/start-up.mjs [--runs 30]
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import module_ from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, percentile } from './lib/stats.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Nothing can be kept below a file. */
const NO_HOME = '/dev/null/home';
const WARM_UPS = 2;

const { values } = parseArgs({ options: { runs: { type: 'string', default: '30' } } });
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs takes a whole number from 1 on.');

const scratch = mkdtempSync(join(tmpdir(), 'execwire-start-up-'));
try {
  const ways = waysToStart();
  for (const way of ways) for (let left = WARM_UPS; left > 0; left -= 1) startOnce(way);
  for (let left = runs; left > 0; left -= 1) for (const way of ways) way.samples.push(startOnce(way));
  console.log(`Node ${process.versions.node}, ms of \`execwire run -- true\`, ${runs} runs each in turns\n`);
  console.log('| | median | min | p90 |\n| --- | ---: | ---: | ---: |');
  for (const { name, samples } of ways) {
    const row = [median(samples), Math.min(...samples), percentile(samples, 0.9)];
    console.log(`| ${name} | ${row.map((ms) => ms.toFixed(1)).join(' | ')} |`);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** @returns {{ name: string, bin: string, home: string, samples: number[] }[]} */
function waysToStart() {
  const bare = copyProgram('bare', { withCode: false });
  const ways = [{ name: 'neither', bin: bare, home: NO_HOME, samples: [] }];
  if (isBuiltForThisNode()) {
    const bin = copyProgram('with-code', { withCode: true });
    ways.unshift({ name: 'code recorded by the build', bin, home: NO_HOME, samples: [] });
  }
  if ('enableCompileCache' in module_) {
    const home = join(scratch, 'home');
    mkdirSync(home);
    ways.push({ name: "Node's compile cache", bin: bare, home, samples: [] });
  }
  return ways;
}

/** V8 takes no code of another version, and the loader does not offer it. */
function isBuiltForThisNode() {
  const loader = readFileSync(join(root, 'dist', 'bin', 'loader.cjs'), 'utf8');
  return loader.includes(`'${process.versions.v8} ${process.arch}'`);
}

/** The command line as built, with the recorded code or without it, beside the libraries it loads. */
function copyProgram(name, { withCode }) {
  const copy = join(scratch, name);
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const folder = join(copy, 'dist', 'bin');
  const code = readdirSync(folder).filter((file) => file.endsWith('.code'));
  if (withCode && code.length === 0) throw new Error('The build has recorded no code. Run: npm run build');
  if (!withCode) for (const file of code) rmSync(join(folder, file));
  return join(copy, 'bin', 'execwire.js');
}

/** Milliseconds from the start of the program to its end. */
function startOnce({ name, bin, home }) {
  const { XDG_CACHE_HOME: _, ...env } = process.env;
  const begun = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [bin, 'run', '--', 'true'], {
    env: { ...env, HOME: home, EXECWIRE_HOME: '/nonexistent', EXECWIRE_SERVER_URL: '' },
    encoding: 'utf8',
  });
  const took = performance.now() - begun;
  if (status !== 0) throw new Error(`${name}: it ended with ${status}: ${stderr}`);
  return took;
}
