// Lists or applies held changes, or copies as many files. Usage: held.mjs WHAT, see `actions`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../../dist/environment/index.js';
import { serveSamples } from './serve-samples.mjs';

/** Changes in a list, and files that are applied. */
const [LISTED, APPLIED] = [10, 10_000];
const PER_DIRECTORY = 100;

const folder = mkdtempSync(join(tmpdir(), 'execwire-bench-held-'));
const workspace = join(folder, 'workspace');
mkdirSync(workspace);
const environment = new LocalEnvironment({ changesDirectory: join(folder, 'sets') });
const set = environment.changes('bench');

/** @type {import('../../dist/protocol/index.js').Sandbox} */
const sandbox = {
  permissions: {
    type: 'managed',
    network: 'restricted',
    file_system: {
      type: 'restricted',
      entries: [
        { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
        { path: { type: 'path', path: pathToFileURL(workspace).href }, access: 'write' },
      ],
    },
  },
  changes: 'hold',
  changesId: 'bench',
};

/** Small files, a hundred to a directory. */
function makeTree(top, count) {
  for (let at = 0; at < count; at += 1) {
    const directory = join(top, String(Math.floor(at / PER_DIRECTORY)));
    if (at % PER_DIRECTORY === 0) mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, String(at)), `file ${at}\n`);
  }
}

async function run(script) {
  const { exitCode, stderr } = await environment.run(['/bin/sh', '-ec', script], { cwd: workspace, sandbox });
  if (exitCode !== 0) throw new Error(stderr);
}

async function prepareList(count) {
  makeTree(workspace, count);
  await run(`for i in $(seq ${LISTED}); do echo changed > 0/$i; done`);
}

async function list() {
  const begun = performance.now();
  const { changes } = await set.list();
  const took = performance.now() - begun;
  if (changes.length !== LISTED) throw new Error(`${changes.length} changes were listed`);
  return took;
}

const source = join(folder, 'source');

/** Everything is new each time, and nothing of the time before is still being written. */
async function apply() {
  await run(`cp -a ${source} made`);
  execFileSync('sync', ['-f', folder]);
  const begun = performance.now();
  const { applied } = await set.apply();
  const took = performance.now() - begun;
  if (applied.created < APPLIED) throw new Error(`${applied.created} files were applied`);
  await set.discard();
  rmSync(join(workspace, 'made'), { recursive: true });
  return took;
}

/** `cp` writes to memory only; whoever wants the files to be there after a crash waits for the disk. */
function copy({ synced }) {
  execFileSync('sync', ['-f', folder]);
  const begun = performance.now();
  execFileSync('cp', ['-a', source, join(workspace, 'made')]);
  if (synced) execFileSync('sync', ['-f', workspace]);
  const took = performance.now() - begun;
  rmSync(join(workspace, 'made'), { recursive: true });
  return took;
}

const actions = {
  'list-in-1000': { prepare: () => prepareList(1_000), sample: list },
  'list-in-100000': { prepare: () => prepareList(100_000), sample: list },
  apply: { prepare: () => makeTree(source, APPLIED), sample: apply },
  copy: { prepare: () => makeTree(source, APPLIED), sample: () => copy({ synced: false }) },
  'copy-synced': { prepare: () => makeTree(source, APPLIED), sample: () => copy({ synced: true }) },
};

const { prepare, sample } = actions[process.argv[2]];
await prepare();
await serveSamples(sample);
await environment.close();
rmSync(folder, { recursive: true, force: true });
process.exit(0);
