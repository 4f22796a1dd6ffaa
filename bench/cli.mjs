// Wall time of the command line: `execwire run -- true` beside `ssh` to the same machine and a bare Node start.
// Rounds are interleaved, so that a busy moment hits all of them; medians are compared.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startSshServer } from '../examples/stdio-over-ssh/ssh-server.mjs';

const ROUNDS = Number(process.argv[2] ?? 15);
const bin = fileURLToPath(new URL('../bin/execwire.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'execwire-bench-'));
const ssh = await startSshServer(folder);
const server = spawn(process.execPath, [bin, 'serve', '--log-level', 'silent'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [url] = await once(createInterface({ input: server.stdout }), 'line');

const cases = {
  'node -e 0': [process.execPath, '-e', '0'],
  'execwire --version': [process.execPath, bin, '--version'],
  'execwire run -e local -- true': [process.execPath, bin, 'run', '-e', 'local', '--', 'true'],
  'execwire run -e ws://… -- true': [process.execPath, bin, 'run', '-e', url, '--', 'true'],
  'ssh 127.0.0.1 true': ['ssh', ...ssh.clientArgs, 'true'],
};
const times = new Map(Object.keys(cases).map((name) => [name, []]));
try {
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, argv] of Object.entries(cases)) times.get(name).push(await wallTime(argv));
  }
} finally {
  server.kill();
  await ssh.stop();
  rmSync(folder, { recursive: true, force: true });
}
report();

async function wallTime([program, ...args]) {
  const began = performance.now();
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} failed with ${code}`);
  return performance.now() - began;
}

function report() {
  const base = median(times.get('node -e 0'));
  for (const [name, all] of times) {
    const middle = median(all);
    const ratio = (middle / base).toFixed(2);
    console.log(`${name.padEnd(34)} ${middle.toFixed(0).padStart(6)} ms   ${ratio} x node -e 0`);
  }
}

function median(all) {
  return [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
}
