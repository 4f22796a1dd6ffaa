// What a policy costs: starting a program under it, and one file operation with a warm helper, against the same without.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { LocalEnvironment } from '../dist/environment/index.js';

const ROUNDS = 150;
const place = (kind, access) => ({ path: { type: 'special', value: { kind } }, access });

async function timed(action) {
  const started = performance.now();
  await action();
  return performance.now() - started;
}

function quantile(samples, share) {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length * share)];
}

/** Runs both in turns, so that whatever else the machine does hits them alike. */
async function compare(name, bare, confined) {
  const samples = { bare: [], confined: [] };
  for (let round = 0; round < ROUNDS + 10; round += 1) {
    const pair = [await timed(bare), await timed(confined)];
    if (round < 10) continue;
    samples.bare.push(pair[0]);
    samples.confined.push(pair[1]);
  }
  const [p50, p50Confined] = [quantile(samples.bare, 0.5), quantile(samples.confined, 0.5)];
  const added = (p50Confined - p50).toFixed(2);
  console.log(
    `${name}: ${p50.toFixed(2)} ms, under a policy ${p50Confined.toFixed(2)} ms, added ${added} ms (p50 of ${ROUNDS})`,
  );
}

const folder = mkdtempSync(join(homedir(), 'execwire-bench-'));
const env = new LocalEnvironment();
try {
  writeFileSync(join(folder, 'file'), Buffer.alloc(1024));
  const workspaceRoots = [pathToFileURL(folder).href];
  const file_system = {
    type: 'restricted',
    entries: [place('root', 'read'), place('project_roots', 'write')],
  };
  const sandbox = { permissions: { type: 'managed', file_system, network: 'restricted' }, workspaceRoots };
  const run = async (options) => (await env.start({ argv: ['/bin/true'], cwd: folder, ...options })).wait();
  await compare(
    'start to closed of /bin/true',
    () => run({}),
    () => run({ sandbox }),
  );
  const path = join(folder, 'file');
  await compare(
    'read of 1 KiB',
    () => env.files.readFile(path),
    () => env.files.readFile(path, { sandbox }),
  );
} finally {
  await env.close();
  rmSync(folder, { recursive: true, force: true });
}
