import { spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { spawnTracked } from '../lib/children.mjs';
import { compileBare } from '../lib/compiler.mjs';
import { requireAll } from '../lib/processes.mjs';
import { binaryFramesSubject, withServers } from '../lib/servers.mjs';
import { textFile } from '../lib/text-file.mjs';
import { bareMover, measureThroughput, serverMover, throughputMetrics } from '../lib/throughput.mjs';

export const pty = {
  name: 'pty',
  title: 'Output on terminals',
  about: '`head -c N` of a file of text on a PTY, from start until every byte has arrived',
  metrics: throughputMetrics,
  headline: 'mbPerSecond',
  baseline: 'script(1)',
  run: ({ servers, plan, scratch }) =>
    withServers([...servers, binaryFramesSubject(servers)], async (opened) => {
      const { byteCount } = plan.pty;
      const argv = ['head', '-c', String(byteCount), textFile(scratch, byteCount)];
      const movers = opened.map((server) => serverMover(server, { argv, byteCount, tty: true }));
      const bare = [...scriptMover(argv, byteCount), ...readMover(argv, byteCount, scratch)];
      return await measureThroughput([...movers, ...bare], plan.pty);
    }),
};

/** `script` of util-linux runs a program on a PTY and copies what it prints; a system without it has no bare row. */
function scriptMover(argv, byteCount) {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  if (!stdout?.includes('util-linux')) return [];
  const command = argv.map((word) => `'${word}'`).join(' ');
  return [bareMover({ name: 'script(1)', argv: ['script', '-qc', command, '/dev/null'], byteCount })];
}

/** What the terminal itself allows: a program in C that reads and does nothing else. */
function readMover(argv, byteCount, scratch) {
  const program = compileBare('read-terminal', scratch);
  if (program === null) return [];
  const move = async () => {
    const begun = performance.now();
    const child = spawnTracked([program, ...argv], { stdio: ['ignore', 'pipe', 'ignore'] });
    const arrived = Number(await text(child.stdout));
    const seconds = (performance.now() - begun) / 1000;
    requireAll(arrived, byteCount);
    return { seconds, cpu: null };
  };
  return [{ name: 'C read(2)', move }];
}
