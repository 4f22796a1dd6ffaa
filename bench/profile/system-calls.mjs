import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { spawnTracked } from '../lib/children.mjs';

export function canTrace() {
  return spawnSync('strace', ['-V']).status === 0;
}

/** Counts the system calls all threads of a running process make while `work` is done; those of its children do not count. */
export async function countCallsOf(pid, scratch, work) {
  const summary = join(scratch, 'calls');
  const threads = readdirSync(`/proc/${pid}/task`);
  const argv = ['strace', '-c', '-o', summary, ...threads.flatMap((thread) => ['-p', thread])];
  const tracer = spawnTracked(argv, { stdio: ['ignore', 'ignore', 'pipe'] });
  const exit = once(tracer, 'exit');
  // strace says for each thread whether it has got hold of it; one may have ended meanwhile.
  const lines = createInterface({ input: tracer.stderr });
  let attached = 0;
  /** @type {Promise<void>} */
  const allAttached = new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      if (/attach(ed|:)/.test(line) && ++attached === threads.length) resolve();
    });
    exit.then(() => reject(new Error('strace could not attach')), reject);
  });
  await allAttached;
  await work();
  tracer.kill('SIGINT');
  await exit;
  return parseSummary(readFileSync(summary, 'utf8'));
}

/** Counts the system calls of a program and of all it starts. */
export async function countCallsIn(argv, scratch) {
  const summary = join(scratch, 'calls');
  const tracer = spawnTracked(['strace', '-c', '-f', '-o', summary, ...argv], { stdio: 'ignore' });
  await once(tracer, 'exit');
  return parseSummary(readFileSync(summary, 'utf8'));
}

/** The table of `strace -c` as `[{name, calls, errors}]`, the most frequent first. */
export function parseSummary(text) {
  const rows = [];
  for (const line of text.split('\n')) {
    const [, calls, errors, name] =
      /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:(\d+)\s+)?([a-z_]\w*)$/.exec(line) ?? [];
    if (name && name !== 'total') rows.push({ name, calls: Number(calls), errors: Number(errors ?? 0) });
  }
  return rows.sort((a, b) => b.calls - a.calls);
}
