import { bin, firstLine } from '../../testkit/launch.mjs';
import { endChild, spawnTracked } from '../lib/children.mjs';
import { interleave } from '../lib/interleave.mjs';
import { openSshProxy } from '../lib/port-ways.mjs';
import { bareSource } from '../lib/sampler.mjs';
import { median, rounded } from '../lib/stats.mjs';

export const proxy = {
  name: 'proxy',
  title: 'The way out of a sandbox',
  about:
    'a program that fetches from a server on loopback: on its own, behind `ssh -D`, and in a sandbox with rules for hosts, ' +
    'behind our proxy: bytes (SOCKS 5), a request on an open connection and one on a new connection (HTTP)',
  metrics: [
    { key: 'mbPerSecond', label: 'MB/s' },
    { key: 'requestMs', label: 'request ms' },
    { key: 'connectMs', label: 'connect ms' },
  ],
  headline: 'requestMs',
  baseline: 'bare socket',
  run: async ({ plan }) => {
    const { rounds, byteCount, count } = plan.proxy;
    const source = spawnTracked([process.execPath, bareSource('port-source.mjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ssh = await openSshProxy();
    try {
      const port = Number(await firstLine(source));
      const client = [process.execPath, bareSource('proxy-client.mjs'), port, byteCount, count].map(String);
      const rules = ['--sandbox', 'read-only', '--network', `allow=127.0.0.1:${port}`];
      const ways = [
        { name: 'bare socket', argv: client },
        { name: 'ssh -D', argv: client, env: { ALL_PROXY: `socks5h://127.0.0.1:${ssh.port}` } },
        {
          name: 'rules for hosts',
          argv: [process.execPath, bin, 'run', '--no-stdin', ...rules, '--', ...client],
        },
      ];
      const runs = await interleave(ways, { rounds, warmUp: true }, visit);
      return ways.map(({ name }) => ({ subject: name, values: medians(runs.get(name)), samples: rounds }));
    } finally {
      await ssh.stop();
      await endChild(source);
    }
  },
};

async function visit({ argv, env = {} }) {
  const { HTTP_PROXY: _http, ALL_PROXY: _all, ...own } = process.env;
  const child = spawnTracked(argv, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...own, ...env } });
  return JSON.parse(await firstLine(child));
}

function medians(runs) {
  const keys = Object.keys(runs[0]);
  return Object.fromEntries(keys.map((key) => [key, rounded(median(runs.map((run) => run[key])))]));
}
