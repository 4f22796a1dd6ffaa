import { once } from 'node:events';
import { join } from 'node:path';
import { startSshServer } from '../../examples/stdio-over-ssh/ssh-server.mjs';
import { bin } from '../../testkit/launch.mjs';
import { endChild, spawnTracked } from '../lib/children.mjs';
import { latencyMetrics, measureLatency } from '../lib/latency.mjs';
import { createScratch } from '../lib/scratch.mjs';
import { withListeningServer } from '../lib/servers.mjs';
import { repeat } from '../lib/stats.mjs';

export const cli = {
  name: 'cli',
  title: 'The command line',
  about:
    'Wall time of running `true`: here, on a server, over ssh to this machine, and of Node doing nothing',
  metrics: latencyMetrics,
  headline: 'p50',
  baseline: 'node -e 0',
  run: ({ servers, plan }) =>
    withListeningServer(servers, async (url) => {
      const folder = createScratch('ssh');
      const ssh = await startSshServer(folder, { start: spawnTracked });
      const shared = ['-o', `ControlPath=${join(folder, 'master')}`];
      const master = await startMaster([...shared, ...ssh.clientArgs]);
      const node = process.execPath;
      const commands = {
        'execwire run': [node, bin, 'run', '-e', 'local', '--', 'true'],
        'execwire run -e ws': [node, bin, 'run', '-e', url, '--', 'true'],
        'ssh, warm': ['ssh', ...shared, ...ssh.clientArgs, 'true'],
        'ssh, cold': ['ssh', ...ssh.clientArgs, 'true'],
        'node -e 0': [node, '-e', '0'],
      };
      const subjects = Object.entries(commands).map(([name, argv]) => ({
        name,
        sample: (limits) => repeat(limits, () => wallTime(argv)),
      }));
      try {
        return await measureLatency(subjects, plan.ready);
      } finally {
        await endChild(master);
        await ssh.stop();
      }
    }),
};

/** One login, whose connection the warm ones use. It listens for them before its local command. */
async function startMaster(args) {
  const ready = ['-o', 'PermitLocalCommand=yes', '-o', 'LocalCommand=echo ready'];
  const master = spawnTracked(['ssh', '-M', '-N', ...ready, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(master.stdout, 'data');
  return master;
}

async function wallTime(argv) {
  const begun = performance.now();
  // Certificates of one's own make every start of Node slower, ours and the bare one.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const [code] = await once(spawnTracked(argv, { stdio: ['ignore', 'ignore', 'inherit'], env }), 'exit');
  if (code !== 0) throw new Error(`it ended with ${code}`);
  return performance.now() - begun;
}
