import { spawnSync } from 'node:child_process';
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
      return await measureThroughput([...movers, ...scriptMover(argv, byteCount)], plan.pty);
    }),
};

/** `script` of util-linux runs a program on a PTY and copies what it prints; a system without it has no bare row. */
function scriptMover(argv, byteCount) {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  if (!stdout?.includes('util-linux')) return [];
  const command = argv.map((word) => `'${word}'`).join(' ');
  return [bareMover({ name: 'script(1)', argv: ['script', '-qc', command, '/dev/null'], byteCount })];
}
